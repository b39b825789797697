package timeline

import (
	"fmt"
	"html"
	"slices"
	"strings"
)

// Table is a table of a page. The first row is its head.
type Table struct {
	Title string
	Rows  [][]string
}

// Page is an HTML page with tables and a picture, and everything it needs in it.
func Page(title string, tables []Table, svg string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>%s</title>\n", html.EscapeString(title))
	b.WriteString("<style>\nbody { font-family: sans-serif; font-size: 14px; margin: 2em; }\ntable { border-collapse: collapse; margin-bottom: 2em; }\n" +
		"td, th { border-bottom: 1px solid #dddddd; padding: 3px 10px; text-align: left; vertical-align: top; }\n</style>\n</head>\n<body>\n")
	fmt.Fprintf(&b, "<h1>%s</h1>\n", html.EscapeString(title))
	for _, table := range tables {
		table.write(&b)
	}
	b.WriteString("<h2>What happened when</h2>\n<p>A bar is a time in which an object was not settled; its text appears under the pointer. " +
		"Bold rows and dark bars are objects of our controllers, orange bars wait for a controller, red ones report an error, grey ones are what gardenlet waits for.</p>\n")
	b.WriteString(svg)
	b.WriteString("</body>\n</html>\n")
	return b.String()
}

func (t Table) write(b *strings.Builder) {
	fmt.Fprintf(b, "<h2>%s</h2>\n<table>\n", html.EscapeString(t.Title))
	for i, row := range t.Rows {
		cell := "td"
		if i == 0 {
			cell = "th"
		}
		b.WriteString("<tr>")
		for _, text := range row {
			fmt.Fprintf(b, "<%[1]s>%[2]s</%[1]s>", cell, strings.ReplaceAll(html.EscapeString(text), "\n", "<br>"))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</table>\n")
}

// widest is the most that a column of text may take. A table with a wider one is a list.
const widest = 80

// Lines are the rows as text: in columns, or as a list if a column but the last is too wide.
func (t Table) Lines() []string {
	if slices.ContainsFunc(t.Rows, func(row []string) bool {
		return slices.ContainsFunc(row[:max(len(row)-1, 0)], func(text string) bool { return len([]rune(text)) > widest })
	}) {
		lines := make([]string, 0, len(t.Rows))
		for _, row := range t.Rows {
			lines = append(lines, "- "+strings.ReplaceAll(strings.Join(row, " - "), "\n", "; "))
		}
		return lines
	}
	var widths []int
	for _, row := range t.Rows {
		for i, text := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], len([]rune(text)))
		}
	}
	lines := make([]string, 0, len(t.Rows))
	for _, row := range t.Rows {
		var b strings.Builder
		for i, text := range row {
			text = strings.ReplaceAll(text, "\n", "; ")
			b.WriteString(text + strings.Repeat(" ", max(0, widths[i]-len([]rune(text)))+2))
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
}
