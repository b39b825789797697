package core

import "slices"

// Table contains the rows of one kind of resource in the order of their creation.
//
// Responses are encoded after the cloud's lock is released, from shallow copies of the rows. So the fields of a row may change, but a slice or map
// in it must be replaced as a whole.
type Table[T any] struct {
	ID   func(*T) string
	byID map[string]*T
	Rows []*T
}

// NewTable returns an empty table. id returns the ID of a row.
func NewTable[T any](id func(*T) string) *Table[T] {
	return &Table[T]{ID: id, byID: map[string]*T{}}
}

// Add appends a row and returns it.
func (t *Table[T]) Add(row *T) *T {
	t.byID[t.ID(row)] = row
	t.Rows = append(t.Rows, row)
	return row
}

// Get returns the row, or nil.
func (t *Table[T]) Get(id string) *T { return t.byID[id] }

// Remove deletes a row, if there is one with that ID.
func (t *Table[T]) Remove(id string) {
	row, ok := t.byID[id]
	if !ok {
		return
	}
	delete(t.byID, id)
	t.Rows = slices.DeleteFunc(t.Rows, func(r *T) bool { return r == row })
}

// Where returns the rows that match, oldest first.
func (t *Table[T]) Where(match func(*T) bool) []*T {
	var found []*T
	for _, row := range t.Rows {
		if match(row) {
			found = append(found, row)
		}
	}
	return found
}

// First returns the oldest row that matches, or nil.
func (t *Table[T]) First(match func(*T) bool) *T {
	for _, row := range t.Rows {
		if match(row) {
			return row
		}
	}
	return nil
}

// Count returns the number of rows that match.
func (t *Table[T]) Count(match func(*T) bool) int {
	n := 0
	for _, row := range t.Rows {
		if match(row) {
			n++
		}
	}
	return n
}

// Copies returns shallow copies, which stay valid without the cloud's lock.
func Copies[T any](rows []*T) []T {
	out := make([]T, 0, len(rows))
	for _, row := range rows {
		out = append(out, *row)
	}
	return out
}

// Without returns a new slice without the elements that match.
func Without[E any](in []E, match func(E) bool) []E {
	out := make([]E, 0, len(in))
	for _, e := range in {
		if !match(e) {
			out = append(out, e)
		}
	}
	return out
}

// With returns a new slice with an element appended.
func With[E any](in []E, more ...E) []E {
	return append(slices.Clip(slices.Clone(in)), more...)
}
