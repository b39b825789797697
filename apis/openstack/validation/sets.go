package validation

// seen are values that have come up in a list. Documents have room for lists so long that looking through them again and again takes minutes.
type seen[Value comparable] map[Value]bool

// isDuplicate reports whether the value has come up before, and remembers it.
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

// optionalTexts are texts, each of which may be missing, in a form that can be compared.
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
