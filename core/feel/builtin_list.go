package feel

import "slices"

func listBuiltins() []builtin {
	return []builtin{
		{name: "list contains", params: "list, element", run: runListContains},
		{name: "count", params: "list | c...", run: runCount},
		{name: "min", params: "list | c...", run: extreme(-1)},
		{name: "max", params: "list | c...", run: extreme(1)},
		{name: "sum", params: "list | n...", run: fold(sum)},
		{name: "product", params: "list | n...", run: fold(product)},
		{name: "mean", params: "list | n...", run: fold(mean)},
		{name: "median", params: "list | n...", run: fold(median)},
		{name: "stddev", params: "list | n...", run: fold(deviation)},
		{name: "mode", params: "list | n...", run: runMode},
		{name: "all", params: "list | b...", run: runAll},
		{name: "any", params: "list | b...", run: runAny},
		{name: "and", params: "list | b...", run: runAll}, // DMN 1.1's name of all
		{name: "or", params: "list | b...", run: runAny},  // DMN 1.1's name of any
		{name: "sublist", params: "list, start position, length?", run: runSublist},
		{name: "append", params: "list, item, items...?", run: runAppend},
		{name: "concatenate", params: "list, lists...?", run: runConcatenate},
		{name: "union", params: "list, lists...?", run: runUnion},
		{name: "insert before", params: "list, position, newItem", run: runInsertBefore},
		{name: "remove", params: "list, position", run: runRemove},
		{name: "list replace", params: "list, position, newItem | list, match, newItem", run: runListReplace},
		{name: "reverse", params: "list", run: runReverse},
		{name: "index of", params: "list, match", run: runIndexOf},
		{name: "distinct values", params: "list", run: runDistinct},
		{name: "duplicate values", params: "list", run: runDuplicates},
		{name: "flatten", params: "list", run: runFlatten},
		{name: "sort", params: "list, precedes?", run: runSort},
		{name: "partition", params: "list, size", run: runPartition},
		{name: "is empty", params: "list", run: runIsEmpty},
	}
}

func runCount(c *call) Value {
	items := c.spread()
	if c.bad {
		return Null{}
	}
	return Int(int64(len(items)))
}

func runIsEmpty(c *call) Value {
	items := c.list(0)
	if c.bad {
		return Null{}
	}
	return Bool(len(items) == 0)
}

func runListContains(c *call) Value {
	items := c.list(0)
	if c.bad {
		return Null{}
	}
	return Bool(slices.ContainsFunc(items, func(v Value) bool { return c.m.same(v, c.args[1]) }))
}

// extreme returns the item that is furthest in the direction; the items must have one order.
func extreme(direction int) func(*call) Value {
	return func(c *call) Value {
		items := c.spread()
		if c.bad || len(items) == 0 {
			return c.null("there are no items")
		}
		best := items[0]
		for _, item := range items {
			order, ok := compare(item, best)
			if !ok {
				return c.null("%s and %s have no order", describe(item), describe(best))
			}
			if order == direction {
				best = item
			}
		}
		return best
	}
}

// numbers returns the items as numbers, and false when one is not, or there are none.
func (c *call) numbers() ([]Number, bool) {
	items := c.spread()
	list := make([]Number, len(items))
	for i, item := range items {
		n, ok := item.(Number)
		if !ok {
			c.null("the list has a %s", item.Kind())
			return nil, false
		}
		if list[i] = n; !c.m.chargeDistance(n, Int(0)) { // a bound of what adding it to another can cost
			return nil, false
		}
	}
	return list, !c.bad
}

// fold makes a built-in of a function of a list of numbers. A list that is empty has no value.
func fold(f func(list []Number) (Number, bool)) func(*call) Value {
	return func(c *call) Value {
		list, ok := c.numbers()
		if !ok {
			return Null{}
		}
		if len(list) == 0 {
			return c.null("the list is empty")
		}
		return c.result(f(list))
	}
}

func sum(list []Number) (total Number, ok bool) {
	total, ok = Int(0), true
	for _, n := range list {
		if total, ok = total.add(n); !ok {
			break
		}
	}
	return total, ok
}

func product(list []Number) (total Number, ok bool) {
	total, ok = Int(1), true
	for _, n := range list {
		if total, ok = total.mul(n); !ok {
			break
		}
	}
	return total, ok
}

func mean(list []Number) (Number, bool) {
	total, ok := sum(list)
	if !ok {
		return total, false
	}
	return total.div(Int(int64(len(list))))
}

func median(list []Number) (Number, bool) {
	sorted := slices.SortedFunc(slices.Values(list), Number.Cmp)
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle], true
	}
	return mean(sorted[middle-1 : middle+1])
}

// deviation is the standard deviation of a sample, which needs two numbers.
func deviation(list []Number) (Number, bool) {
	average, ok := mean(list)
	if !ok || len(list) < 2 {
		return average, false
	}
	squares := make([]Number, len(list))
	for i, n := range list {
		distance, ok := n.sub(average)
		if !ok {
			return distance, false
		}
		if squares[i], ok = distance.mul(distance); !ok {
			return distance, false
		}
	}
	total, ok := sum(squares)
	if !ok {
		return total, false
	}
	variance, ok := total.div(Int(int64(len(list) - 1)))
	if !ok {
		return variance, false
	}
	return squareRoot(variance)
}

// runMode returns the most frequent numbers, in ascending order.
func runMode(c *call) Value {
	list, ok := c.numbers()
	if !ok {
		return Null{}
	}
	sorted := slices.SortedFunc(slices.Values(list), Number.Cmp)
	modes, most := List{}, 0
	for start := 0; start < len(sorted); {
		end := start
		for end < len(sorted) && sorted[end].Cmp(sorted[start]) == 0 {
			end++
		}
		if end-start > most {
			modes, most = List{}, end-start
		}
		if end-start == most {
			modes = append(modes, sorted[start])
		}
		start = end
	}
	return c.made(modes)
}

func runAll(c *call) Value {
	var result Value = Bool(true)
	for _, item := range c.spread() {
		result = and(result, truth(item))
	}
	if c.bad {
		return Null{}
	}
	return result
}

func runAny(c *call) Value {
	var result Value = Bool(false)
	for _, item := range c.spread() {
		result = or(result, truth(item))
	}
	if c.bad {
		return Null{}
	}
	return result
}

// place turns a position (from 1, or from -1 backwards) into an index below limit.
func (c *call) place(position int64, length, limit int) (int, bool) {
	if position < 0 {
		position += int64(length) + 1
	}
	if position < 1 || position > int64(limit) {
		c.null("the list of %d items has no such position", length)
		return 0, false
	}
	return int(position - 1), true
}

func runSublist(c *call) Value {
	items, position := c.list(0), c.integer(1)
	if c.bad {
		return Null{}
	}
	start, ok := c.place(position, len(items), len(items))
	if !ok {
		return Null{}
	}
	length := int64(len(items) - start)
	if c.given(2) {
		length = c.integer(2)
	}
	if c.bad || length < 0 || length > int64(len(items)-start) {
		return c.null("the length is out of range")
	}
	return c.made(slices.Clone(items[start : start+int(length)]))
}

func runAppend(c *call) Value { return c.made(slices.Concat(c.list(0), List(c.args[1:]))) }

func runConcatenate(c *call) Value {
	joined := List{}
	for i := range c.args {
		joined = append(joined, c.list(i)...)
		if c.bad || !c.m.room(len(joined)) {
			return Null{}
		}
	}
	return c.made(joined)
}

func runUnion(c *call) Value {
	joined, ok := runConcatenate(c).(List)
	if !ok {
		return Null{}
	}
	return c.distinct(joined)
}

// distinct keeps the first of equal items. Every comparison is charged.
func (c *call) distinct(items List) Value {
	kept := List{}
	for _, item := range items {
		if !slices.ContainsFunc(kept, func(v Value) bool { return c.m.same(v, item) }) {
			kept = append(kept, item)
		}
	}
	return c.made(kept)
}

func runDistinct(c *call) Value { return c.distinct(c.list(0)) }

func runDuplicates(c *call) Value {
	items, kept := c.list(0), List{}
	for i, item := range items {
		same := func(v Value) bool { return c.m.same(v, item) }
		if slices.ContainsFunc(items[i+1:], same) && !slices.ContainsFunc(kept, same) {
			kept = append(kept, item)
		}
	}
	return c.made(kept)
}

func runInsertBefore(c *call) Value {
	items, position := c.list(0), c.integer(1)
	if c.bad {
		return Null{}
	}
	i, ok := c.place(position, len(items), len(items)+1)
	if !ok {
		return Null{}
	}
	return c.made(slices.Insert(slices.Clone(items), i, c.args[2]))
}

func runRemove(c *call) Value {
	items, position := c.list(0), c.integer(1)
	if c.bad {
		return Null{}
	}
	i, ok := c.place(position, len(items), len(items))
	if !ok {
		return Null{}
	}
	return c.made(slices.Delete(slices.Clone(items), i, i+1))
}

// runListReplace replaces the item at a position, or every item for which match(item, newItem) is true.
func runListReplace(c *call) Value {
	items := slices.Clone(c.list(0))
	if f, ok := c.args[1].(*Function); ok {
		for i, item := range items {
			if c.m.invoke(c.pos, f, []Value{item, c.args[2]}) == Value(Bool(true)) {
				items[i] = c.args[2]
			}
		}
		return c.made(items)
	}
	position := c.integer(1)
	if c.bad {
		return Null{}
	}
	i, ok := c.place(position, len(items), len(items))
	if !ok {
		return Null{}
	}
	items[i] = c.args[2]
	return c.made(items)
}

func runReverse(c *call) Value {
	items := slices.Clone(c.list(0))
	slices.Reverse(items)
	return c.made(items)
}

func runIndexOf(c *call) Value {
	list := List{}
	for i, item := range c.list(0) {
		if c.m.same(item, c.args[1]) {
			list = append(list, Int(int64(i+1)))
		}
	}
	return c.made(list)
}

// runFlatten walks nested lists; shared parts can make the result large, so it is bounded on the way.
func runFlatten(c *call) Value {
	flat := List{}
	var walk func(items List) bool
	walk = func(items List) bool {
		for _, item := range items {
			if !c.m.charge(1) {
				return false
			}
			if inner, ok := item.(List); ok {
				if !walk(inner) {
					return false
				}
				continue
			}
			if flat = append(flat, item); !c.m.room(len(flat)) {
				return false
			}
		}
		return true
	}
	walk(c.list(0))
	return c.made(flat)
}

// runPartition cuts a list into lists of a size; the last may be shorter.
func runPartition(c *call) Value {
	items, size := c.list(0), c.integer(1)
	if c.bad || size < 1 {
		return c.null("the size is not positive")
	}
	parts := List{}
	for chunk := range slices.Chunk(items, int(min(size, int64(len(items))+1))) {
		parts = append(parts, chunk)
	}
	return c.made(parts)
}

// runSort sorts by precedes(a, b), or by the natural order. Equal items keep their order.
func runSort(c *call) Value {
	items := slices.Clone(c.list(0))
	if c.bad {
		return Null{}
	}
	if len(c.args) > 1 {
		f, ok := c.args[1].(*Function)
		if !ok {
			return c.null("argument 2 is a %s, not a function", c.args[1].Kind())
		}
		return c.made(c.mergeSort(items, func(a, b Value) bool {
			return c.m.invoke(c.pos, f, []Value{a, b}) == Value(Bool(true))
		}))
	}
	for i := 1; i < len(items); i++ {
		if _, ok := compare(items[0], items[i]); !ok {
			return c.null("%s and %s have no order", describe(items[0]), describe(items[i]))
		}
	}
	return c.made(c.mergeSort(items, func(a, b Value) bool {
		order, _ := compare(a, b)
		return order < 0
	}))
}

// mergeSort is used instead of the library's sort because precedes may be any function of the expression:
// it needs a bounded number of comparisons and a defined result also when that is no order.
func (c *call) mergeSort(items List, precedes func(a, b Value) bool) List {
	if len(items) < 2 || !c.m.charge(len(items)) {
		return items
	}
	left := c.mergeSort(items[:len(items)/2], precedes)
	right := c.mergeSort(items[len(items)/2:], precedes)
	merged := make(List, 0, len(items))
	for len(left) > 0 && len(right) > 0 {
		if precedes(right[0], left[0]) {
			merged, right = append(merged, right[0]), right[1:]
		} else {
			merged, left = append(merged, left[0]), left[1:]
		}
	}
	return append(append(merged, left...), right...)
}

// instance reports whether a value has a type. Null has the type Null alone.
func (m *machine) instance(v Value, t *typeRef) bool {
	switch {
	case !m.charge(1):
		return false
	case t.any:
		return v.Kind() != KindNull
	case v.Kind() != t.kind:
		return false
	}
	switch v := v.(type) {
	case List:
		return t.element == nil || !slices.ContainsFunc(v, func(item Value) bool { return !m.conforms(item, t.element) })
	case *Range:
		return t.element == nil || m.endConforms(v.Low, t.element) && m.endConforms(v.High, t.element)
	case *Context:
		return !slices.ContainsFunc(t.fields, func(f typeField) bool {
			value, ok := v.Lookup(f.name)
			return !ok || !m.conforms(value, f.typ)
		})
	case *Function:
		return t.result == nil || len(v.params) == len(t.params) && v.builtin == nil
	}
	return true
}

// conforms reports whether a part of a value has a type; a null part conforms to every type.
func (m *machine) conforms(v Value, t *typeRef) bool { return v.Kind() == KindNull || m.instance(v, t) }

func (m *machine) endConforms(v Value, t *typeRef) bool { return v == nil || m.conforms(v, t) }
