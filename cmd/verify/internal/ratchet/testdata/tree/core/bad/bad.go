// Package bad breaks every rule once; the comment at a line says which.
package bad

import (
	"context"
	"iter"
	"maps"
	"math/rand/v2" // want ban-import
	"sync"         // want ban-import
	"time"

	"example.org/m/core/node"  // want import
	"example.org/m/core/sched"
	"example.org/m/sim" // want import
)

var counter int

var rows = map[string]int{}

var guard sync.Mutex // want ban-variable

var own sched.Mutex // want ban-variable

type owner struct{ count int }

func (o *owner) add() { o.count++ }

var shared owner

// Do does it all.
func Do(c chan int) { // want ban-channel
	go sim.Run()    // want ban-go
	c <- node.Answer // want ban-channel
	<-c              // want ban-channel
	for range c {    // want ban-channel
	}
	select {} // want ban-channel
}

// Times reads and waits.
func Times(ctx context.Context) {
	now := time.Now // want ban-call
	time.Sleep(time.Since(now())) // want ban-call
	ctx, stop := context.WithTimeout(ctx, 1) // want ban-call
	stop()
	iter.Pull(maps.Keys(rows)) // want ban-call
	_ = rand.Int()
	<-ctx.Done() // want ban-channel
}

// Change changes package variables in each way.
func Change() *int {
	counter++ // want ban-variable
	counter = 3 // want ban-variable
	rows["a"] = 1 // want ban-variable
	delete(rows, "a") // want ban-variable
	shared.add() // want ban-variable
	shared.count = 2 // want ban-variable
	guard.Lock() // want ban-variable
	own.Lock() // want ban-variable
	return &counter // want ban-variable
}

// Order lets the order of a map escape.
func Order(f func(string)) (first string, all []string, total float64) {
	for k := range rows { // want ban-order
		f(k)
	}
	for k := range rows { // want ban-order
		all = append(all, k)
	}
	for _, v := range rows { // want ban-order
		total += float64(v)
	}
	//order:
	for k := range maps.Keys(rows) { // want ban-order
		return k, nil, 0
	}
	return "", all, total
}
