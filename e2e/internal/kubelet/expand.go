package kubelet

import "strings"

// Expand replaces each $(NAME) in a text by the variable of that name. An unknown name stays as it is, and $$ stands for one dollar sign.
func Expand(text string, variables map[string]string) string {
	var expanded strings.Builder
	for {
		at := strings.IndexByte(text, '$')
		if at < 0 || at == len(text)-1 {
			expanded.WriteString(text)
			return expanded.String()
		}
		expanded.WriteString(text[:at])
		text = text[at:]
		name, rest, closed := strings.Cut(strings.TrimPrefix(text, "$("), ")")
		value, known := variables[name]
		switch {
		case text[1] == '$':
			expanded.WriteByte('$')
			text = text[2:]
		case text[1] == '(' && closed && known:
			expanded.WriteString(value)
			text = rest
		default:
			expanded.WriteByte('$')
			text = text[1:]
		}
	}
}

func expandAll(texts []string, variables map[string]string) []string {
	var expanded []string
	for _, text := range texts {
		expanded = append(expanded, Expand(text, variables))
	}
	return expanded
}
