package validation

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
