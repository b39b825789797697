package policy

import (
	"slices"

	"github.com/trellis-garden/trellis/internal/gardenet/nft"
)

// set is a set that rules of policies use.
type set struct {
	nft.Set
	// scope are the pods that have elements in it, nil for a set whose elements depend on nothing. No two pods have the same element.
	scope    *scope
	elements func(pod *pod, add func(element string))
	// round is that of the last computation that used it.
	round int
}

// fill sets the elements of all pods in the scope.
func (s *set) fill(pods []*pod) {
	var elements []string // results share the former ones
	for _, pod := range pods {
		s.elements(pod, func(element string) { elements = append(elements, element) })
	}
	slices.Sort(elements)
	s.Elements = slices.Compact(elements)
}

// change removes the elements of some pods, and adds those of others.
func (s *set) change(gone, came []*pod) {
	elements := slices.Clone(s.Elements)
	for _, pod := range gone {
		s.elements(pod, func(element string) {
			if i, found := slices.BinarySearch(elements, element); found {
				elements = slices.Delete(elements, i, i+1)
			}
		})
	}
	for _, pod := range came {
		s.elements(pod, func(element string) {
			if i, found := slices.BinarySearch(elements, element); !found {
				elements = slices.Insert(elements, i, element)
			}
		})
	}
	s.Elements = elements
}

// use returns the set of a name, with the elements that it has now. If it is not known, it is as given.
func (r *renderer) use(name string, given set) *set {
	known := r.memo.sets[name]
	if known == nil {
		known = &given
		known.Name = name
		r.memo.sets[name] = known
	}
	r.update(known)
	return known
}

// update gives a set the elements that it has now.
func (r *renderer) update(s *set) {
	switch {
	case s.round == r.memo.round || s.scope == nil:
	case s.round == 0 || r.changed.all:
		s.fill(r.members(*s.scope))
	default:
		if gone, came := r.changesIn(*s.scope); len(gone)+len(came) > 0 {
			s.change(gone, came)
		}
	}
	s.round = r.memo.round
}
