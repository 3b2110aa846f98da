package record

// Group is the rows of a batch that have the same key.
type Group struct {
	// Key is the AppendKey form of the key's values, in the order of the expressions.
	Key string
	// Values are the key's values, independent of the batch.
	Values []Value
	// Rows are in batch order.
	Rows []int32
}

// Partition groups the rows of b by the values of keys, and returns the rows whose key could not be
// computed. The groups are in the order of their first rows, so the result depends on nothing but b.
// Each row is in one group or rejected.
func Partition(b *Batch, keys []*Expr) ([]Group, []*Rejection) {
	for _, e := range keys {
		e.mustFit(b)
	}
	var groups []Group
	var rejected []*Rejection
	index := make(map[string]int)
	values := make([]Value, len(keys))
	var key []byte
	c := &cursor{row: Row{batch: b}}
	for i := range b.Rows() {
		c.row.row = i
		rejection := evalAll(keys, c, values)
		if rejection != nil {
			rejected = append(rejected, rejection)
			continue
		}
		key = key[:0]
		for _, v := range values {
			key = v.AppendKey(key)
		}
		at, ok := index[string(key)]
		if !ok {
			at = len(groups)
			index[string(key)] = at
			groups = append(groups, Group{Key: string(key), Values: cloneAll(values)})
		}
		groups[at].Rows = append(groups[at].Rows, int32(i))
	}
	return groups, rejected
}

func evalAll(keys []*Expr, c *cursor, values []Value) *Rejection {
	for i, e := range keys {
		c.variable = e.scope.variable
		v, rejection := e.eval(c)
		if rejection != nil {
			return rejection
		}
		values[i] = v
	}
	return nil
}

func cloneAll(values []Value) []Value {
	out := make([]Value, len(values))
	for i, v := range values {
		out[i] = v.Clone()
	}
	return out
}
