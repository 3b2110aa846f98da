package record

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Projection makes rows of one schema from rows of another. It is immutable.
type Projection struct {
	scope *Scope
	out   *Schema
	exprs []*Expr // one for each field of out; nil leaves the field null

	maxBytes int // MaxBatchBytes, less in tests
}

// MaxBatchBytes bounds the text of a projected batch. An expression can make more text than it reads,
// and the offsets of an Arrow column are 32-bit; a row that does not fit any more is refused.
const MaxBatchBytes = 1 << 30

// Assignment names the expression of one output field.
type Assignment struct{ Field, Text string }

// AssignmentFault is a fault of the assignment at Index, or of the whole projection when Index is -1.
type AssignmentFault struct {
	Index int
	// Unknown says that out has no such field.
	Unknown bool
	ExprFault
}

// Project compiles a projection to out. An output field without an assignment is carried over from
// the input field of the same name and type; where there is none it is null when it is nullable and a
// fault otherwise. An assignment's type must be the field's own.
func (s *Scope) Project(out *Schema, assignments []Assignment) (*Projection, []AssignmentFault) {
	p := &Projection{scope: s, out: out, exprs: make([]*Expr, out.Len()), maxBytes: MaxBatchBytes}
	var faults []AssignmentFault
	assigned := make([]bool, out.Len())
	for i, a := range assignments {
		field, ok := out.Index(a.Field)
		if !ok || assigned[field] {
			faults = append(faults, AssignmentFault{i, !ok, ExprFault{1, 1, assignmentFault(out, a.Field, ok)}})
			continue
		}
		assigned[field] = true
		e, more := s.assign(out.Field(field), a.Text)
		for _, f := range more {
			faults = append(faults, AssignmentFault{i, false, f})
		}
		p.exprs[field] = e
	}
	for i, done := range assigned {
		if done {
			continue
		}
		e, fault := s.carry(out.Field(i))
		if fault != "" {
			faults = append(faults, AssignmentFault{-1, false, ExprFault{1, 1, fault}})
		}
		p.exprs[i] = e
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return p, nil
}

func assignmentFault(out *Schema, name string, known bool) string {
	if known {
		return fmt.Sprintf("field %s is assigned twice", name)
	}
	return fmt.Sprintf("schema %s has no field %s", out.name, name)
}

func (s *Scope) assign(f Field, text string) (*Expr, []ExprFault) {
	e, faults := s.Compile(text)
	if len(faults) > 0 {
		return nil, faults
	}
	if e.Type() != f.Type {
		return nil, []ExprFault{{1, 1, fmt.Sprintf("expression is of type %s, field %s is %s; there are no implicit casts",
			e.Type(), f.Name, f.TypeText())}}
	}
	if e.Nullable() && !f.Nullable {
		return nil, []ExprFault{{1, 1, fmt.Sprintf("expression may be null, field %s is %s; use coalesce(…, …)", f.Name, f.TypeText())}}
	}
	return e, nil
}

func (s *Scope) carry(f Field) (*Expr, string) {
	i, ok := s.schema.Index(f.Name)
	if ok {
		from := s.schema.Field(i)
		if from.Type == f.Type && (f.Nullable || !from.Nullable) {
			return &Expr{scope: s, text: s.variable + "." + f.Name, result: from, column: i}, ""
		}
		return nil, fmt.Sprintf("field %s is %s and cannot be carried over from %s of schema %s: assign it",
			f.Name, f.TypeText(), from.TypeText(), s.schema.name)
	}
	if f.Nullable {
		return nil, ""
	}
	return nil, fmt.Sprintf("field %s is %s and has no value: assign it", f.Name, f.TypeText())
}

// Schema returns the schema of the projected batches.
func (p *Projection) Schema() *Schema { return p.out }

// Apply returns the projected rows as a batch that the caller releases, and the rows of b that an
// expression could not be evaluated on. Source[i] is the row of b from which row i was made.
func (p *Projection) Apply(b *Batch, mem memory.Allocator) (out *Batch, source []int32, rejected []*Rejection) {
	if !b.schema.Equal(p.scope.schema) {
		panic(fmt.Sprintf("record: projection of %s on a batch of %s", p.scope.schema.name, b.schema.name))
	}
	builder := NewBuilder(p.out, mem)
	defer builder.Release()
	builder.Reserve(b.Rows())
	values := make([]Value, p.out.Len())
	source = make([]int32, 0, b.Rows())
	c := &cursor{variable: p.scope.variable, row: Row{batch: b}}
	room := p.maxBytes
	for i := range b.Rows() {
		c.row.row = i
		rejection := p.row(c, values)
		if length := textBytes(values); rejection == nil && length > room {
			rejection = &Rejection{Row: i, Reason: CostExceeded, Detail: fmt.Sprintf("batch has over %d bytes of text", p.maxBytes)}
		} else if rejection == nil {
			room -= length
		}
		if rejection != nil {
			rejected = append(rejected, rejection)
			continue
		}
		builder.Append(values...)
		source = append(source, int32(i))
	}
	return builder.Batch(), source, rejected
}

func textBytes(values []Value) int {
	length := 0
	for _, v := range values {
		length += len(v.text)
	}
	return length
}

func (p *Projection) row(c *cursor, values []Value) *Rejection {
	for i, e := range p.exprs {
		if e == nil {
			values[i] = NullValue(p.out.fields[i].Type)
			continue
		}
		v, rejection := e.eval(c)
		if rejection == nil && v.null && !p.out.fields[i].Nullable {
			rejection = &Rejection{Row: c.row.row, Reason: NullResult, Detail: e.quoted() + ": result is null"}
		}
		if rejection != nil {
			rejection.Pointer = pointerOf(p.out.fields[i].Name)
			return rejection
		}
		values[i] = v
	}
	return nil
}
