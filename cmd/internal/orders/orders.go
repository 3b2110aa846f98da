package orders

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// ApprovalAmount is the amount from which an order needs approval, as the package examples/orders says.
const ApprovalAmount = 1000

// Order is one valid order.
type Order struct {
	ID       string `json:"order_id"`
	Customer string `json:"customer"`
	Amount   int64  `json:"amount"`
	PlacedAt string `json:"placed_at"`
}

// Approved reports the decision that the approver takes: two of three large orders pass.
func (o Order) Approved() bool { return o.Amount%3 != 0 }

// Large reports whether the order needs approval.
func (o Order) Large() bool { return o.Amount >= ApprovalAmount }

// Line is one line that the client sends.
type Line struct {
	Text string
	// Order is what the line says, or nil when it is malformed.
	Order *Order
	// Fault names the kind of fault of a malformed line.
	Fault string
}

// Input is everything that the client sends, in bodies of several lines.
type Input struct {
	Bodies [][]Line
	// Unique holds each valid order once, by id.
	Unique map[string]Order
	Lines  int
	Bad    int
	Copies int // lines that repeat an order
}

// faults are the ways in which a line can be malformed.
var faults = []struct{ name, text string }{
	{"syntax", `{"order_id":"%s","customer":`},
	{"missing field", `{"order_id":"%s","amount":5,"placed_at":"2026-01-01T00:00:00Z"}`},
	{"wrong type", `{"order_id":"%s","customer":"c","amount":"much","placed_at":"2026-01-01T00:00:00Z"}`},
	{"bad time", `{"order_id":"%s","customer":"c","amount":5,"placed_at":"yesterday"}`},
}

// Generate makes n lines from a seed: one in a hundred is large, one in fifty repeats an earlier order, one in two
// hundred is malformed. The same seed gives the same input.
func Generate(seed uint64, n, perBody int) *Input {
	r := rand.New(rand.NewPCG(seed, 0x6F72646572))
	in := &Input{Unique: map[string]Order{}, Lines: n}
	var sent []Order
	var body []Line
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		switch k := r.IntN(400); {
		case k < 2:
			f := faults[r.IntN(len(faults))]
			body = append(body, Line{Text: faultText(f.text, i), Fault: f.name})
			in.Bad++
		case k < 10 && len(sent) > 0:
			o := sent[r.IntN(len(sent))]
			body = append(body, orderLine(o))
			in.Copies++
		default:
			o := newOrder(r, i, start)
			sent = append(sent, o)
			in.Unique[o.ID] = o
			body = append(body, orderLine(o))
		}
		if len(body) == perBody || i == n-1 {
			in.Bodies = append(in.Bodies, body)
			body = nil
		}
	}
	return in
}

func newOrder(r *rand.Rand, i int, start time.Time) Order {
	amount := int64(1 + r.IntN(ApprovalAmount-1))
	if r.IntN(100) == 0 {
		amount += ApprovalAmount
	}
	return Order{
		ID:       fmt.Sprintf("o-%06d", i),
		Customer: fmt.Sprintf("c-%03d", r.IntN(200)),
		Amount:   amount,
		PlacedAt: start.Add(time.Duration(i) * time.Second).Format(time.RFC3339),
	}
}

func faultText(format string, i int) string {
	return fmt.Sprintf(format, fmt.Sprintf("bad-%06d", i))
}

func orderLine(o Order) Line {
	text, err := json.Marshal(o)
	if err != nil {
		panic(fmt.Sprintf("encode order %s: %v", o.ID, err)) // strings and a number: cannot fail
	}
	return Line{Text: string(text), Order: &o}
}

// Text is the body as sent.
func Text(body []Line) string {
	var b strings.Builder
	for _, l := range body {
		b.WriteString(l.Text)
		b.WriteByte('\n')
	}
	return b.String()
}
