package models

// Rows is the reference of a space of named rows: the time at which each expires, 0 for never. What counts is the expiry that was
// written last.
type Rows map[string]int64

// NewRows returns an empty space.
func NewRows() Rows { return Rows{} }

// Write sets a row.
func (r Rows) Write(key string, expires int64) { r[key] = expires }

// Expire removes what expired at or before now.
func (r Rows) Expire(now int64) {
	//order:each row is judged by itself
	for key, expires := range r {
		if expires != 0 && expires <= now {
			delete(r, key)
		}
	}
}
