package sct

// The parts of the quicksort that no other thread takes part in. Elements are compared through a function and swapped byte by
// byte, as the original does for elements of four bytes; only the first byte of each differs.

func (s *sorter) compare(i, j int64) int64 {
	s.m.local(6)
	x := s.elems[i].Load()
	s.m.local(1)
	y := s.elems[j].Load()
	s.m.local(2)
	return x - y
}

func (s *sorter) swap(i, j int64) {
	s.m.local(17)
	x := s.elems[i].Load()
	s.m.local(2)
	y := s.elems[j].Load()
	s.m.local(2)
	s.elems[i].Store(y)
	s.m.local(3)
	s.elems[j].Store(x)
	s.m.local(2 + 3*14)
}

func (s *sorter) insertion(a, n int64) {
	s.m.local(3)
	for i := a + 1; i < a+n; i++ {
		s.m.local(6)
		for j := i; j > a; j-- {
			s.m.local(4)
			if s.compare(j-1, j) <= 0 {
				break
			}
			s.swap(j, j-1)
			s.m.local(3)
		}
		s.m.local(6)
	}
}

func (s *sorter) median(a, b, c int64) int64 {
	s.m.local(5)
	if s.compare(a, b) < 0 {
		if s.compare(b, c) < 0 {
			return b
		}
		if s.compare(a, c) < 0 {
			return c
		}
		return a
	}
	if s.compare(b, c) > 0 {
		return b
	}
	if s.compare(a, c) < 0 {
		return a
	}
	return c
}

// partition moves what is smaller than a pivot to the left and what is larger to the right, and returns how many.
func (s *sorter) partition(a, n int64) (left, right int64, swapped bool) {
	m := s.m
	m.local(5)
	middle := a + n/2
	if n > 7 {
		m.local(12)
		middle = s.median(a, middle, a+n-1)
		m.local(5)
	}
	s.swap(a, middle)
	m.local(9)
	pa, pb, pc, pd := a+1, a+1, a+n-1, a+n-1
	for pb <= pc {
		pa, pb, swapped = s.up(a, pa, pb, pc, swapped)
		pc, pd, swapped = s.down(a, pb, pc, pd, swapped)
		m.local(2)
		if pb > pc {
			break
		}
		s.swap(pb, pc)
		m.local(7)
		swapped = true
		pb++
		pc--
	}
	m.local(1)
	if !swapped {
		return 0, 0, false
	}
	m.local(12)
	s.exchange(a, pb, min(pa-a, pb-pa))
	m.local(10)
	s.exchange(pb, a+n, min(pd-pc, a+n-pd-1))
	m.local(12)
	return pb - pa, pd - pc, true
}

// up moves pb to the first element that is larger than the pivot, and what equals the pivot to the left end.
func (s *sorter) up(a, pa, pb, pc int64, swapped bool) (int64, int64, bool) {
	for pb <= pc {
		s.m.local(3)
		r := s.compare(pb, a)
		if r > 0 {
			break
		}
		if s.m.local(1); r == 0 {
			swapped = true
			s.m.local(1)
			s.swap(pa, pb)
			s.m.local(3)
			pa++
		}
		s.m.local(3)
		pb++
	}
	return pa, pb, swapped
}

// down moves pc to the last element that is smaller than the pivot, and what equals the pivot to the right end.
func (s *sorter) down(a, pb, pc, pd int64, swapped bool) (int64, int64, bool) {
	for pb <= pc {
		s.m.local(3)
		r := s.compare(pc, a)
		if r < 0 {
			break
		}
		if s.m.local(1); r == 0 {
			swapped = true
			s.m.local(1)
			s.swap(pc, pd)
			s.m.local(3)
			pd--
		}
		s.m.local(3)
		pc--
	}
	return pc, pd, swapped
}

// exchange swaps the n elements from i on with the n before end.
func (s *sorter) exchange(i, end, n int64) {
	for k := range n {
		s.swap(i+k, end-n+k)
	}
}
