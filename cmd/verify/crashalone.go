package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/millrace-dev/millrace/cmd/internal/orders"
	"github.com/millrace-dev/millrace/cmd/verify/internal/chaos"
	"github.com/millrace-dev/millrace/core/graph"
)

// The package that a node on its own store is given another version of: an instance waits for its message.
const (
	alonePackage = `name: alone
schemas: {key: {id: string}}
channels:
  starts: {http: {path: /starts}, schema: key, flow: waits}
  ends: {http: {path: /ends}, schema: key, message: ends, correlate: message.id}
flows: [waits.bpmn]
`
	aloneFlow = `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="alone">
<message id="m" name="ends"><extensionElements><zeebe:subscription correlationKey="=id"/></extensionElements></message>
<process id="waits">
<startEvent id="in"/><task id="version-%d"/><intermediateCatchEvent id="wait"><messageEventDefinition messageRef="m"/></intermediateCatchEvent><endEvent id="out"/>
<sequenceFlow id="a" sourceRef="in" targetRef="version-%[1]d"/><sequenceFlow id="b" sourceRef="version-%[1]d" targetRef="wait"/>
<sequenceFlow id="c" sourceRef="wait" targetRef="out"/>
</process>
</definitions>
`
)

// What clients do around an activation of a node on its own store, and how long anything may take.
const (
	aloneClients  = 4
	aloneKeys     = 25 // of each client
	alonePatience = 60 * time.Second
)

// alone is a node on its own store, and what was done to it.
type alone struct {
	*orders.Node
	packages, identities [2]string
	lost                 atomic.Int64 // answers
	faults               []string
}

// crashAlone is an activation at which the only node there is dies at a point, while clients start instances.
func (s site) crashAlone(ctx context.Context, binary, point string, second bool) (row activationRow, err error) {
	began := time.Now()
	dir, err := os.MkdirTemp("", "millrace-crash-")
	if err != nil {
		return row, err
	}
	row = activationRow{Point: point, Store: "pebble", Instances: aloneClients * aloneKeys, Folder: dir}
	a, err := newAlone(dir, binary)
	if err == nil {
		err = a.dieActivating(ctx, point, second)
	}
	if err != nil {
		return row, fmt.Errorf("activation that dies at %s on its own store (data in %s): %w", point, dir, err)
	}
	row.Lost, row.Faults, row.Seconds = int(a.lost.Load()), a.faults, time.Since(began).Seconds()
	if len(row.Faults) == 0 {
		row.Folder = ""
		err = os.RemoveAll(dir)
	}
	return row, err
}

func newAlone(dir, binary string) (*alone, error) {
	a := &alone{}
	for i := range a.packages {
		a.packages[i] = filepath.Join(dir, fmt.Sprintf("package-%d", i+1))
		err := errors.Join(
			os.MkdirAll(a.packages[i], 0o755), os.WriteFile(filepath.Join(a.packages[i], "millrace.yaml"), []byte(alonePackage), 0o644),
			os.WriteFile(filepath.Join(a.packages[i], "waits.bpmn"), fmt.Appendf(nil, aloneFlow, i+1), 0o644))
		if err != nil {
			return nil, err
		}
		p, faults := graph.Load(os.DirFS(a.packages[i]))
		if len(faults) > 0 {
			return nil, faults[0]
		}
		a.identities[i] = p.ID
	}
	address, err := orders.FreeAddress()
	a.Node = &orders.Node{Binary: binary, Package: a.packages[0], Data: filepath.Join(dir, "data"), Address: address}
	return a, errors.Join(err, os.MkdirAll(a.Data, 0o755))
}

// dieActivating kills the node at the point and starts it with either folder: before the decision is durable the first version stays, after it
// the second one is active. Then every instance is ended, and counted, and the first version retires.
func (a *alone) dieActivating(ctx context.Context, point string, second bool) error {
	ctx, stop := context.WithTimeout(ctx, alonePatience)
	defer stop()
	a.Env = []string{"MILLRACE_FAILPOINT=" + point + ":1"}
	if err := a.Start(ctx); err != nil {
		return err
	}
	a.Env = nil
	defer func() { _ = a.Signal(os.Kill) }() // whatever went wrong, nothing is left running
	var clients sync.WaitGroup
	faults := make([]error, aloneClients)
	for i := range aloneClients {
		clients.Go(func() { faults[i] = a.client(ctx, i, "/starts") })
	}
	time.Sleep(50 * time.Millisecond) // some have started; what is decided does not depend on how many
	apply := exec.CommandContext(ctx, a.Binary, "apply", "--node", "http://"+a.Address, a.packages[1])
	if out, err := apply.CombinedOutput(); err == nil {
		a.faults = append(a.faults, fmt.Sprintf("the node was to die at %s, and answered %s", point, out))
	}
	select {
	case <-a.Gone():
	case <-ctx.Done():
		return fmt.Errorf("the node does not die at %s: %w", point, context.Cause(ctx))
	}
	want := a.identities[1]
	if point == chaos.Points()[0] {
		want = a.identities[0]
	} else if second {
		a.Package = a.packages[1]
	}
	if err := errors.Join(a.Kill(), a.Start(ctx)); err != nil {
		return err
	}
	clients.Wait()
	if err := errors.Join(faults...); err != nil {
		return err
	}
	a.requires(ctx, want, "active")
	for i := range aloneClients {
		if err := a.client(ctx, i, "/ends"); err != nil {
			return err
		}
	}
	a.counted(ctx)
	if want == a.identities[1] {
		a.requires(ctx, a.identities[0], "retired")
	}
	return a.Stop(ctx)
}

// client brings each of its messages until it has taken effect.
func (a *alone) client(ctx context.Context, number int, path string) error {
	for n := range aloneKeys {
		key := fmt.Sprintf("k%d-%d", number, n)
		for {
			status, text, err := orders.Post(ctx, http.DefaultClient, "http://"+a.Address+path, "application/json", key, fmt.Appendf(nil, `{"id":%q}`, key))
			if err == nil && status == http.StatusOK {
				break
			}
			if ctx.Err() != nil || err == nil && status < http.StatusInternalServerError {
				return fmt.Errorf("%s of %s: %d %s: %w", path, key, status, text, errors.Join(err, context.Cause(ctx)))
			}
			a.lost.Add(1)
			time.Sleep(20 * time.Millisecond)
		}
	}
	return nil
}

// requires waits until a deployment is in a state.
func (a *alone) requires(ctx context.Context, id, state string) {
	var said []byte
	for ctx.Err() == nil {
		var list struct {
			Deployments []struct{ Deployment, State string }
		}
		var err error
		if _, said, err = a.Get(ctx, "/api/deployments"); err == nil && json.Unmarshal(said, &list) == nil {
			for _, d := range list.Deployments {
				if d.Deployment == id && d.State == state {
					return
				}
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	a.faults = append(a.faults, fmt.Sprintf("deployment %s is not %s: %s", id, state, said))
}

// counted requires that every instance has ended, once.
func (a *alone) counted(ctx context.Context) {
	var c struct{ Started, Completed, Running int }
	_, text, err := a.Get(ctx, "/api/instances/count")
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if want := aloneClients * aloneKeys; err != nil || c.Started != want || c.Completed != want {
		a.faults = append(a.faults, fmt.Sprintf("want %d instances that have completed: %s, %v", want, strings.TrimSpace(string(text)), err))
	}
}
