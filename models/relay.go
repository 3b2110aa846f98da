package models

// Queue is the reference of C6's queue: a bounded first-in first-out list.
type Queue struct {
	Items    []int
	Capacity int
	Closed   bool
}

// Push appends v if the queue is open and below its capacity; closed tells the two refusals apart.
func (q *Queue) Push(v int) (ok, closed bool) {
	if q.Closed || len(q.Items) >= q.Capacity {
		return false, q.Closed
	}
	q.Items = append(q.Items, v)
	return true, false
}

// Post appends v if the queue is open.
func (q *Queue) Post(v int) bool {
	if !q.Closed {
		q.Items = append(q.Items, v)
	}
	return !q.Closed
}

// Take removes the first item.
func (q *Queue) Take() (v int, ok bool) {
	if len(q.Items) == 0 {
		return 0, false
	}
	v = q.Items[0]
	q.Items = q.Items[1:]
	return v, true
}

// Fanout is the reference of C6's relay: who is attached, and what each consumer was handed.
type Fanout struct {
	Attached []bool
	Handed   [][]int
}

// Attach adds a consumer and returns its number.
func (f *Fanout) Attach() int {
	f.Attached = append(f.Attached, true)
	f.Handed = append(f.Handed, nil)
	return len(f.Attached) - 1
}

// Publish hands v to everybody attached and returns to how many.
func (f *Fanout) Publish(v int) int {
	n := 0
	for i, attached := range f.Attached {
		if attached {
			f.Handed[i] = append(f.Handed[i], v)
			n++
		}
	}
	return n
}
