package validation

// seen are the values of a list so far. Documents may have lists so long that a linear search for each value takes minutes.
type seen[Value comparable] map[Value]bool

// isDuplicate reports whether the value is a duplicate, and records it.
func (s seen[Value]) isDuplicate(value Value) bool {
	known := s[value]
	s[value] = true
	return known
}

func setOf[Value comparable](values []Value) map[Value]bool {
	set := make(map[Value]bool, len(values))
	for _, value := range values {
		set[value] = true
	}
	return set
}

// optionalTexts are optional strings in a comparable form.
type optionalTexts [7]struct {
	text  string
	given bool
}

func newOptionalTexts(texts ...*string) optionalTexts {
	var result optionalTexts
	for i, text := range texts {
		if text != nil {
			result[i].text, result[i].given = *text, true
		}
	}
	return result
}
