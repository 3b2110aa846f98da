package models

import "slices"

// BranchUse is what a table knows of one branch that is alive.
type BranchUse struct {
	Key  string
	Used int64
	Held int // what is under way outside and will come back
}

// Branches is the reference of E1's table, between works: which branches are alive, the one that was used least recently
// first. Times are in any unit; a TTL of 0 is none.
type Branches struct {
	TTL   int64
	Max   int
	Alive []BranchUse
}

func (b *Branches) find(key string) int {
	return slices.IndexFunc(b.Alive, func(u BranchUse) bool { return u.Key == key })
}

// use puts a branch behind all others.
func (b *Branches) use(at int, now int64) {
	u := b.Alive[at]
	u.Used = now
	b.Alive = append(slices.Delete(b.Alive, at, at+1), u)
}

// Admit returns the branch that had to end for this one, if any, and false when the work would have to wait for one.
func (b *Branches) Admit(now int64, key string) (ended []string, ok bool) {
	at := b.find(key)
	if at < 0 && len(b.Alive) == b.Max {
		idle := slices.IndexFunc(b.Alive, func(u BranchUse) bool { return u.Held == 0 })
		if idle < 0 {
			return nil, false
		}
		ended = []string{b.Alive[idle].Key}
		b.Alive = slices.Delete(b.Alive, idle, idle+1)
	}
	if at < 0 {
		at = len(b.Alive)
		b.Alive = append(b.Alive, BranchUse{Key: key})
	}
	b.use(at, now)
	return ended, true
}

// Hold adds to what is under way for a branch.
func (b *Branches) Hold(key string, n int) { b.Alive[b.find(key)].Held += n }

// Sweep returns the branches whose time is over, in order of use, and when the next one is due. One that is in use begins a new
// time.
func (b *Branches) Sweep(now int64) (ended []string, due int64, ok bool) {
	if b.TTL == 0 {
		return nil, 0, false
	}
	for range len(b.Alive) {
		switch u := b.Alive[0]; {
		case u.Used+b.TTL > now:
		case u.Held > 0:
			b.use(0, now)
		default:
			ended = append(ended, u.Key)
			b.Alive = b.Alive[1:]
		}
	}
	if len(b.Alive) == 0 {
		return ended, 0, false
	}
	return ended, b.Alive[0].Used + b.TTL, true
}
