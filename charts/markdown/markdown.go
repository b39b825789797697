// Package markdown reads code blocks and sections of Markdown pages, for tests that follow what the pages say. It is in this module because tests of
// charts and of e2e use it, and e2e depends on charts. It must not know any page.
package markdown

import (
	"regexp"
	"slices"
	"strings"
)

// Block is a fenced code block.
type Block struct {
	// Language is the word after the fence; empty for none.
	Language string
	// Text is the content, without the indentation of the fence, and with a newline at its end.
	Text string
	// Heading is the text of the nearest heading above the block, without #.
	Heading string
	// Line is the number of the block's first line on the page.
	Line int
}

// First returns the first line of the block that is not empty, without spaces around it.
func (b Block) First() string {
	first, _, _ := strings.Cut(strings.TrimSpace(b.Text), "\n")
	return strings.TrimSpace(first)
}

// Blocks returns the code blocks of a page or a part of it; with languages, only those in one of them.
func Blocks(page string, languages ...string) []Block {
	const fence = "```"
	var blocks []Block
	var current *Block
	indentation, heading, number := "", "", 0
	for line := range strings.Lines(page) {
		number++
		text := strings.TrimLeft(line, " ")
		switch isFence := strings.HasPrefix(text, fence); {
		case current == nil && isFence:
			indentation = line[:len(line)-len(text)]
			current = &Block{Language: strings.TrimSpace(text[len(fence):]), Heading: heading, Line: number + 1}
		case current == nil && strings.HasPrefix(line, "#"):
			heading = strings.TrimSpace(strings.TrimLeft(line, "#"))
		case current != nil && isFence:
			blocks, current = append(blocks, *current), nil
		case current != nil:
			current.Text += strings.TrimPrefix(line, indentation)
		}
	}
	return slices.DeleteFunc(blocks, func(b Block) bool { return len(languages) > 0 && !slices.Contains(languages, b.Language) })
}

// Spans returns the texts in single backticks of a page, without those in code blocks. A | that is escaped for a table is not escaped in them.
func Spans(page string) []string {
	span := regexp.MustCompile("`([^`]+)`")
	var spans []string
	for _, match := range span.FindAllStringSubmatch(withoutBlocks(page), -1) {
		spans = append(spans, strings.ReplaceAll(strings.ReplaceAll(match[1], `\|`, "|"), "\n", " "))
	}
	return spans
}

func withoutBlocks(page string) string {
	return regexp.MustCompile("(?ms)^ *```.*?^ *```$").ReplaceAllString(page, "")
}

// Section returns the part of a page under a heading, e.g. "## Install", up to the next heading of the same or a higher level. It reports whether
// there is that heading. A single # is a comment in a block.
func Section(page, heading string) (string, bool) {
	_, after, found := strings.Cut(page, "\n"+heading+"\n")
	level, _, _ := strings.Cut(heading, " ")
	return regexp.MustCompile(`(?m)^#{2,`+string(rune('0'+len(level)))+`} `).Split(after, 2)[0], found
}
