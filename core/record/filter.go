package record

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Filter is a condition on rows. It is immutable.
type Filter struct{ expr *Expr }

// Filter compiles a condition. It must be a bool that cannot be null: a nullable field is compared,
// as in `row.flag == true`, and not used as a condition.
func (s *Scope) Filter(text string) (*Filter, []ExprFault) {
	e, faults := s.Compile(text)
	if len(faults) > 0 {
		return nil, faults
	}
	if e.Type() != Bool {
		return nil, []ExprFault{{1, 1, fmt.Sprintf("condition is of type %s, want bool", e.Type())}}
	}
	if e.Nullable() {
		return nil, []ExprFault{{1, 1, "condition may be null; compare it, as in (…) == true, or use coalesce(…, false)"}}
	}
	return &Filter{expr: e}, nil
}

// Text returns the condition's source.
func (f *Filter) Text() string { return f.expr.text }

// Select appends to rows the rows of b for which the condition is true, in order, and returns the
// rows that it could not be evaluated on. A row is in one, in the other, or the condition is false.
func (f *Filter) Select(b *Batch, rows []int32) ([]int32, []*Rejection) {
	f.expr.mustFit(b)
	var rejected []*Rejection
	c := &cursor{variable: f.expr.scope.variable, row: Row{batch: b}}
	for i := range b.Rows() {
		c.row.row = i
		v, rejection := f.expr.eval(c)
		if rejection != nil {
			rejected = append(rejected, rejection)
		} else if v.Bool() {
			rows = append(rows, int32(i))
		}
	}
	return rows, rejected
}

// Selected returns the rows of b for which where is true, in order, and those that it could not be evaluated on. A nil
// condition selects every row.
func Selected(b *Batch, where *Filter) ([]int32, []*Rejection) {
	if where != nil {
		return where.Select(b, nil)
	}
	rows := make([]int32, b.Rows())
	for i := range rows {
		rows[i] = int32(i)
	}
	return rows, nil
}

// Apply returns the selected rows as a batch that the caller releases.
func (f *Filter) Apply(b *Batch, mem memory.Allocator) (*Batch, []*Rejection) {
	rows, rejected := f.Select(b, make([]int32, 0, b.Rows()))
	return b.Select(rows, mem), rejected
}

// Key compiles an expression whose value identifies something: a deduplication, branch or
// correlation key. It cannot be null, and it cannot be a float64, which has unequal equals.
func (s *Scope) Key(text string) (*Expr, []ExprFault) {
	e, faults := s.Compile(text)
	if len(faults) > 0 {
		return nil, faults
	}
	if e.Type() == Float64 {
		return nil, []ExprFault{{1, 1, "key is of type float64; want a string, bool, int64, timestamp or bytes"}}
	}
	if e.Nullable() {
		return nil, []ExprFault{{1, 1, "key may be null; use coalesce(…, …) to say which key a null has"}}
	}
	return e, nil
}

func (e *Expr) mustFit(b *Batch) {
	if !b.schema.Equal(e.scope.schema) {
		panic(fmt.Sprintf("record: expression over %s on a batch of %s", e.scope.schema.name, b.schema.name))
	}
}
