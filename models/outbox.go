package models

// Outbox is the reference of L11: emissions of instances in commit order, a receiver that is up or down and a node that is
// up or down. What is committed has arrived, in order, as soon as both are up.
type Outbox struct {
	NodeUp, ReceiverUp bool
	Committed          map[string]uint64 // emissions by instance
	Arrived            map[string]uint64 // of them, the ones at the receiver
}

// NewOutbox returns an empty outbox with node and receiver up.
func NewOutbox() *Outbox {
	return &Outbox{NodeUp: true, ReceiverUp: true, Committed: map[string]uint64{}, Arrived: map[string]uint64{}}
}

// Commit adds count emissions of an instance.
func (o *Outbox) Commit(instance string, count int) {
	o.Committed[instance] += uint64(count)
	o.send()
}

// Switch takes node and receiver up or down.
func (o *Outbox) Switch(node, receiver bool) {
	o.NodeUp, o.ReceiverUp = node, receiver
	o.send()
}

// Waiting is how many emissions have not arrived.
func (o *Outbox) Waiting() uint64 {
	var n uint64
	for instance, committed := range o.Committed {
		n += committed - o.Arrived[instance]
	}
	return n
}

func (o *Outbox) send() {
	if !o.NodeUp || !o.ReceiverUp {
		return
	}
	for instance, committed := range o.Committed {
		o.Arrived[instance] = committed
	}
}
