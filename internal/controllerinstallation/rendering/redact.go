package rendering

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
)

const (
	redacted = "[from a resource]"
	// minRedacted is the least length in bytes of a text that is hidden: a shorter text is part of many words.
	minRedacted = 4
	// maxRedacted is how many bytes of a message are searched from either end, many times what is shown of it. The bytes between are left out.
	maxRedacted = 64 << 10
)

// redact removes data of Secrets and ConfigMaps from a message, since everyone with access to the status can read it. Templates, and parsers of their
// output, quote the input that they fail on, line by line. The message must not be truncated: a secret that was cut in the middle cannot be found.
func redact(message string, resources map[string]any) string {
	spellings, longest := spellingsOf(resources), 0
	for spelling := range spellings {
		longest = max(longest, len(spelling))
	}
	if len(message) <= 2*maxRedacted {
		return removeTexts(message, spellings, 0, len(message))
	}
	// The text next to the left-out middle may be a part of a secret.
	longest = min(longest, maxRedacted)
	return removeTexts(message[:maxRedacted], spellings, 0, maxRedacted-longest) + " ... " +
		removeTexts(message[len(message)-maxRedacted:], spellings, longest, maxRedacted)
}

// removeTexts returns the part of the message between from and to, without these texts, also where they overlap.
func removeTexts(message string, texts map[string]struct{}, from, to int) string {
	isHidden := make([]bool, len(message))
	for at := range isHidden {
		isHidden[at] = at < from || at >= to
	}
	for text := range texts {
		markOccurrences(isHidden, message, text)
	}
	var out strings.Builder
	for at, hidden := range isHidden {
		switch {
		case !hidden:
			out.WriteByte(message[at])
		case at == 0 || !isHidden[at-1]:
			out.WriteString(redacted)
		}
	}
	return out.String()
}

// markOccurrences marks all occurrences of a text in a message.
func markOccurrences(isHidden []bool, message, text string) {
	end := 0
	for from := 0; from < len(message); from++ {
		at := strings.Index(message[from:], text)
		if at < 0 {
			return
		}
		from += at
		for end = max(end, from); end < from+len(text); end++ {
			isHidden[end] = true
		}
	}
}

// spellingsOf returns the texts that represent the data of resources: each line of it, plain and as Go, JSON and YAML quote it.
func spellingsOf(resources map[string]any) map[string]struct{} {
	spellings := map[string]struct{}{}
	for _, resource := range resources {
		fields, _ := resource.(map[string]any)
		data, _ := fields["data"].(map[string]any)
		for _, value := range data {
			text, _ := value.(string)
			add(spellings, base64.StdEncoding.EncodeToString([]byte(text)))
			for line := range strings.Lines(text) {
				line = strings.TrimSpace(line)
				// YAML does not read such characters at the end of a line as text, and quotes the rest.
				for _, plain := range []string{line, strings.Trim(line, "*&!|>'\"%@`[]{}#,:?-")} {
					add(spellings, append(quoted(plain), plain)...)
				}
			}
		}
	}
	return spellings
}

// quoted returns the forms in which Go, JSON and YAML write a text between quotation marks, without these.
func quoted(text string) []string {
	literals := []string{strconv.Quote(text), strconv.QuoteToASCII(text)}
	if inJSON, err := json.Marshal(text); err == nil {
		literals = append(literals, string(inJSON))
	}
	var forms []string
	for _, literal := range literals {
		forms = append(forms, literal[1:len(literal)-1])
	}
	return append(forms, strings.ReplaceAll(text, "'", "''"))
}

// add adds texts, also in the form with each run of white space replaced by one space.
func add(to map[string]struct{}, texts ...string) {
	for _, text := range texts {
		for _, form := range []string{text, strings.Join(strings.Fields(text), " ")} {
			if len(form) >= minRedacted {
				to[form] = struct{}{}
			}
		}
	}
}
