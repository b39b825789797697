package inspect

import (
	"fmt"
	"strings"
)

// Sizes in pixels. The font is monospaced, so that the width of a text is known.
const (
	svgMargin      = 20
	svgLineHeight  = 18
	svgColumnWidth = 680
	svgGap         = 30
	svgIndent      = 18
)

const (
	// svgTextLength is how many characters fit into a column, and svgLabelLength how many of them are for a label.
	svgTextLength, svgLabelLength = 88, 11
	svgLabelWidth                 = 88
	// svgMostLines is how many lines a text may have.
	svgMostLines = 3
	svgTextColor = "#222222"
)

// SVG returns the report as a static picture: the objects on the left, the cloud's resources on the right.
func SVG(report Report) string {
	picture := &svg{}
	picture.text(svgMargin, svgMargin+svgLineHeight, "bold", svgTextColor, summary(report))
	top := svgMargin + 3*svgLineHeight
	left := top
	for _, object := range report.Objects {
		left = picture.object(svgMargin, left, object, linesOf(object, report.At)) + svgMargin
	}
	for _, err := range report.Unread {
		picture.text(svgMargin, left, "normal", colorOf(StateUnhealthy), "could not be read: "+err)
		left += svgLineHeight
	}
	right, x := top, svgMargin+svgColumnWidth+svgGap
	for _, object := range report.Objects {
		if len(object.Resources) == 0 {
			continue
		}
		picture.text(x, right+svgLineHeight, "bold", svgTextColor, "Cloud resources of "+title(object))
		right = picture.tree(x, right+2*svgLineHeight, object.Resources) + svgMargin
	}
	return picture.page(x+svgColumnWidth+svgMargin, max(left, right)+svgMargin)
}

// svg collects elements.
type svg struct{ elements strings.Builder }

// object draws a box with lines about an object, and returns its lower edge.
func (s *svg) object(x, y int, object Object, lines []line) int {
	lines = wrapAll(lines)
	bottom := y + (len(lines)+2)*svgLineHeight
	fmt.Fprintf(&s.elements, `<rect x="%d" y="%d" width="%d" height="%d" rx="4" fill="white" stroke="%s" stroke-width="2"/>`+"\n",
		x, y, svgColumnWidth, bottom-y, colorOf(object.State))
	x += svgIndent / 2
	y += svgLineHeight
	s.text(x, y, "bold", colorOf(object.State), title(object)+": "+string(object.State))
	for _, l := range lines {
		y += svgLineHeight
		if l.label != "" {
			s.text(x, y, "normal", svgTextColor, l.label)
		}
		fill := svgTextColor
		if l.state != StateHealthy {
			fill = colorOf(l.state)
		}
		s.text(x+svgLabelWidth, y, "normal", fill, l.text)
	}
	return bottom
}

// wrapAll breaks texts that are too long for a line at spaces, and cuts what is too long for several.
func wrapAll(lines []line) []line {
	var wrapped []line
	for _, l := range lines {
		for i := 1; ; i++ {
			head, rest := breakAt(l.text, svgTextLength-svgLabelLength)
			if i == svgMostLines {
				head, rest = cut(l.text, svgTextLength-svgLabelLength), ""
			}
			wrapped = append(wrapped, line{l.label, head, l.state})
			if rest == "" {
				break
			}
			l.label, l.text = "", rest
		}
	}
	return wrapped
}

// breakAt splits a text at the last space before a number of characters, or there.
func breakAt(content string, length int) (head, rest string) {
	runes := []rune(content)
	if len(runes) <= length {
		return content, ""
	}
	head = string(runes[:length])
	if space := strings.LastIndex(head, " "); space > 0 {
		return content[:space], content[space+1:]
	}
	return head, string(runes[length:])
}

// tree draws resources with lines to their children, and returns the lower edge.
func (s *svg) tree(x, y int, resources []Resource) int {
	for _, r := range resources {
		y += svgLineHeight
		s.text(x, y, "normal", svgTextColor, cut(strings.Join(nonEmpty(r.Kind, r.Name, r.ID, r.Detail), " "), svgTextLength))
		y += svgLineHeight
		s.text(x+svgIndent, y, "normal", colorOfOrigin(r), cut(resourceClause(r), svgTextLength))
		if len(r.Children) > 0 {
			start := y - svgLineHeight/2
			y = s.tree(x+2*svgIndent, y, r.Children)
			fmt.Fprintf(&s.elements, `<path d="M%d %dV%d" stroke="#888888" fill="none"/>`+"\n", x+svgIndent/2, start, y)
		}
	}
	return y
}

// colorOfOrigin is another one for a resource with a note.
func colorOfOrigin(resource Resource) string {
	if resource.Note != "" {
		return colorOf(StateProgressing)
	}
	return "#666666"
}

func (s *svg) text(x, y int, weight, fill, content string) {
	fmt.Fprintf(&s.elements, `<text x="%d" y="%d" font-weight="%s" fill="%s">%s</text>`+"\n", x, y, weight, fill, escape(content))
}

func (s *svg) page(width, height int) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" font-family="monospace" font-size="12">
<rect width="100%%" height="100%%" fill="#f8f8f8"/>
%[3]s</svg>
`, width, height, s.elements.String())
}

func colorOf(state State) string {
	switch state {
	case StateHealthy:
		return "#1a7f37"
	case StateProgressing:
		return "#9a6700"
	default:
		return "#cf222e"
	}
}

// cut shortens a text to a number of characters.
func cut(content string, length int) string {
	runes := []rune(content)
	if len(runes) <= length {
		return content
	}
	return string(runes[:length-1]) + "…"
}

// escape makes a text fit for an element. Control characters, which XML does not allow, were removed where the text was read.
func escape(content string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;").Replace(content)
}
