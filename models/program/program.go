package program

import (
	"fmt"
	"math/rand/v2"

	"github.com/millrace-dev/millrace/models/oneactor"
)

// Program is a process with a path through it.
type Program struct {
	Seed       uint64
	Root       *Block
	Options    oneactor.Options
	Deliveries []oneactor.Delivery
}

const (
	maxDeliveries = 60
	maxStarts     = 3
)

// Draw makes the program of a seed. It runs the reference beside itself, to know what the program waits for.
func Draw(seed uint64) (*Program, error) {
	d := &drawing{Rand: rand.New(rand.NewPCG(seed, 14))}
	modes := []oneactor.Mode{oneactor.OnPersist, oneactor.OnComplete}
	p := &Program{Seed: seed, Options: oneactor.Options{Flow: Flow, Start: modes[d.IntN(2)], Messages: modes[d.IntN(2)]}}
	p.Root = d.process(surroundings{reads: []string{"n", "n", "flag"}, alone: true})
	e, err := p.Engine()
	if err != nil {
		return nil, err
	}
	w := &walk{drawing: d, engine: e, blocks: map[string]*Block{}}
	w.collect(p.Root)
	for range maxDeliveries {
		delivery, more := w.next()
		if !more {
			break
		}
		p.Deliveries = append(p.Deliveries, delivery)
		if _, err := e.Deliver(delivery); err != nil {
			return nil, fmt.Errorf("draw program %d: %w", seed, err)
		}
	}
	return p, nil
}

// Engine returns the reference with the program loaded.
func (p *Program) Engine() (*oneactor.Engine, error) {
	loaded, err := oneactor.Load([]byte(BPMN(p.Root)))
	if err != nil {
		return nil, fmt.Errorf("load program %d: %w", p.Seed, err)
	}
	return oneactor.New(loaded, p.Options)
}

// Expected is what the reference does with each delivery.
func (p *Program) Expected() ([][]string, error) {
	e, err := p.Engine()
	if err != nil {
		return nil, err
	}
	var all [][]string
	for _, d := range p.Deliveries {
		lines, err := e.Deliver(d)
		if err != nil {
			return nil, err
		}
		all = append(all, lines)
	}
	return all, nil
}
