package fake

import "slices"

// table holds the rows of one kind of resource in the order of their creation.
//
// Answers are encoded after the cloud's lock is released, from shallow copies of the rows. So a row may change field by
// field, but a slice or map in it is replaced as a whole and never changed in place.
type table[T any] struct {
	id   func(*T) string
	byID map[string]*T
	rows []*T
}

func newTable[T any](id func(*T) string) *table[T] {
	return &table[T]{id: id, byID: map[string]*T{}}
}

func (t *table[T]) add(row *T) *T {
	t.byID[t.id(row)] = row
	t.rows = append(t.rows, row)
	return row
}

// get returns the row, or nil.
func (t *table[T]) get(id string) *T { return t.byID[id] }

func (t *table[T]) remove(id string) {
	row, ok := t.byID[id]
	if !ok {
		return
	}
	delete(t.byID, id)
	t.rows = slices.DeleteFunc(t.rows, func(r *T) bool { return r == row })
}

// where returns the rows that match, oldest first.
func (t *table[T]) where(match func(*T) bool) []*T {
	var found []*T
	for _, row := range t.rows {
		if match(row) {
			found = append(found, row)
		}
	}
	return found
}

// first returns the oldest row that matches, or nil.
func (t *table[T]) first(match func(*T) bool) *T {
	for _, row := range t.rows {
		if match(row) {
			return row
		}
	}
	return nil
}

func (t *table[T]) count(match func(*T) bool) int {
	n := 0
	for _, row := range t.rows {
		if match(row) {
			n++
		}
	}
	return n
}

// copies returns shallow copies, which stay valid without the cloud's lock.
func copies[T any](rows []*T) []T {
	out := make([]T, 0, len(rows))
	for _, row := range rows {
		out = append(out, *row)
	}
	return out
}

// without returns a new slice that lacks the elements that match.
func without[E any](in []E, match func(E) bool) []E {
	out := make([]E, 0, len(in))
	for _, e := range in {
		if !match(e) {
			out = append(out, e)
		}
	}
	return out
}

// with returns a new slice that has more at its end.
func with[E any](in []E, more ...E) []E {
	return append(slices.Clip(slices.Clone(in)), more...)
}
