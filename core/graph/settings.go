package graph

import (
	"fmt"
	"net/netip"
)

// DefaultListen is the address of the HTTP port when the package names none.
const DefaultListen = "127.0.0.1:8080"

func (l *loader) loadNode(root object) {
	o := object{l: l, section: nodeKeys(), path: "node"}
	if c, ok := root.child("node", nodeKeys()); ok {
		o = c
	}
	n := &l.pkg.Node
	n.Lanes = int(o.integer("lanes"))
	if o.has("journal") {
		n.Journal = o.duration("journal")
	}
	n.Listen = DefaultListen
	if c, ok := o.child("http", nodeHTTPKeys()); ok && c.has("listen") {
		n.Listen = c.listen("listen")
	}
	data, ok := o.child("data", nodeDataKeys())
	if !ok {
		data = object{section: nodeDataKeys()}
	}
	n.LowWater = data.size("low_water")
	settlement, ok := o.child("settlement", settlementKeys())
	if !ok {
		settlement = object{section: settlementKeys()}
	}
	n.SettlementCapacity = int(settlement.integer("capacity"))
	n.SettlementTime = settlement.duration("time")
}

// listen returns a loopback address with its port. A host name is not resolved: what localhost means
// is up to the machine.
func (o object) listen(name string) string {
	text := o.text(name)
	if text == "" {
		return DefaultListen
	}
	address, err := netip.ParseAddrPort(text)
	switch {
	case err != nil:
		o.fault(name, fmt.Sprintf("address %s: want an IP address and a port, as in %s", clip(text), DefaultListen))
	case !address.Addr().IsLoopback():
		o.fault(name, fmt.Sprintf("address %s is not a loopback address; any other needs TLS and a token", clip(text)))
	}
	return text
}
