package timeline

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"
	"time"
)

// Sizes in pixels.
const (
	labelWidth  = 330
	chartWidth  = 1100
	rowHeight   = 18
	barHeight   = 12
	headHeight  = 60
	marginRight = 20
	// minimumBar keeps short spans visible.
	minimumBar = 1.5
)

// Step is a step of a run, for the picture's head.
type Step struct {
	Name     string
	From, To time.Time
	Failed   bool
}

// Picture is a timeline.
type Picture struct {
	Title string
	Steps []Step
	Spans []Span
	// IsOurs says whose rows are marked as our controllers'.
	IsOurs func(Span) bool
}

// row is a line of the picture.
type row struct {
	label string
	ours  bool
	spans []Span
}

// colorOf is of Okabe and Ito's palette, which people who see few colors can tell apart.
func colorOf(span Span, ours bool) string {
	switch {
	case span.State == Failing:
		return "#d55e00"
	case span.State == Requested:
		return "#e69f00"
	case span.Kind == KindWait:
		return "#bbbbbb"
	case ours:
		return "#0072b2"
	default:
		return "#56b4e9"
	}
}

// rows groups spans by their objects: Shoots, what gardenlet waits for, our objects, the others. Objects of one group are sorted by their begin.
func (p Picture) rows() []row {
	index, rows := map[string]int{}, []row{}
	for _, span := range p.Spans {
		label := labelOf(span)
		at, known := index[label]
		if !known {
			at = len(rows)
			index[label] = at
			rows = append(rows, row{label: label, ours: p.IsOurs(span)})
		}
		rows[at].spans = append(rows[at].spans, span)
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(groupOf(a), groupOf(b)), a.spans[0].From.Compare(b.spans[0].From), cmp.Compare(a.label, b.label))
	})
	return rows
}

func groupOf(r row) int {
	switch kind := r.spans[0].Kind; {
	case kind == KindShoot:
		return 0
	case r.ours:
		return 1
	case kind == KindMachineDeployment:
		return 2
	case kind == KindWait:
		return 3
	case kind == KindManagedResource, kind == KindMachine:
		return 5
	default:
		return 4
	}
}

// labelOf names a row. Machines are shown together, since each lives for a moment.
func labelOf(span Span) string {
	shoot := span.Namespace[strings.LastIndex(span.Namespace, "--")+1:]
	shoot = strings.TrimLeft(shoot, "-")
	switch span.Kind {
	case KindWait:
		return "gardenlet waits (" + span.Namespace + "): " + span.Name
	case KindMachine:
		return "Machines of " + shoot
	case KindShoot, KindInstallation:
		return span.Kind + " " + span.Name
	default:
		if shoot == span.Name || shoot == "" {
			return span.Kind + " " + span.Name
		}
		return span.Kind + " " + span.Name + " of " + shoot
	}
}

// SVG draws the picture. It fails without steps.
func (p Picture) SVG() (string, error) {
	if len(p.Steps) == 0 {
		return "", fmt.Errorf("timeline %q has no steps", p.Title)
	}
	rows := p.rows()
	begin, end := p.Steps[0].From, p.Steps[len(p.Steps)-1].To
	scale := chartWidth / max(end.Sub(begin).Seconds(), 1)
	at := func(t time.Time) float64 {
		return labelWidth + latest(begin, earliest(t, end)).Sub(begin).Seconds()*scale
	}
	width, height := labelWidth+chartWidth+marginRight, headHeight+(len(rows)+1)*rowHeight
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="11">`+"\n", width, height)
	b.WriteString(`<rect width="100%" height="100%" fill="#ffffff"/>` + "\n")
	fmt.Fprintf(&b, `<text x="8" y="18" font-size="14" font-weight="bold">%s</text>`+"\n", html.EscapeString(p.Title))
	drawSteps(&b, p.Steps, at, height)
	drawTicks(&b, begin, end, at, height)
	for i, r := range rows {
		r.draw(&b, at, float64(headHeight+i*rowHeight))
	}
	b.WriteString("</svg>\n")
	return b.String(), nil
}

func drawSteps(b *strings.Builder, steps []Step, at func(time.Time) float64, height int) {
	for i, step := range steps {
		fill := [...]string{"#f4f4f4", "#ffffff"}[i%2]
		if step.Failed {
			fill = "#fbe3d6"
		}
		left, right := at(step.From), at(step.To)
		fmt.Fprintf(b, `<g><title>%s: %s</title><rect x="%.1f" y="26" width="%.1f" height="%d" fill="%s"/>`, html.EscapeString(step.Name),
			seconds(step.To.Sub(step.From)), left, max(right-left, minimumBar), height-26, fill)
		if fits := int((right - left) / 6); fits > 2 {
			fmt.Fprintf(b, `<text x="%.1f" y="38">%s</text>`, left+2, html.EscapeString(cut(step.Name, fits)))
		}
		b.WriteString("</g>\n")
	}
}

func drawTicks(b *strings.Builder, begin, end time.Time, at func(time.Time) float64, height int) {
	interval := tickInterval(end.Sub(begin))
	for t := begin; !t.After(end); t = t.Add(interval) {
		fmt.Fprintf(b, `<path d="M%.1[1]f 44L%.1[1]f %[2]d" stroke="#dddddd"/><text x="%.1[1]f" y="54" text-anchor="middle">%[3]s</text>`+"\n",
			at(t), height-rowHeight/2, seconds(t.Sub(begin)))
	}
}

// tickInterval makes between five and twelve ticks of most durations.
func tickInterval(whole time.Duration) time.Duration {
	for _, interval := range []time.Duration{time.Second, 5 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute} {
		if whole/interval <= 12 {
			return interval
		}
	}
	return max(5*time.Minute, (whole / 10).Round(5*time.Minute))
}

func (r row) draw(b *strings.Builder, at func(time.Time) float64, top float64) {
	weight := ""
	if r.ours {
		weight = ` font-weight="bold"`
	}
	fmt.Fprintf(b, `<text x="%d" y="%.1f" text-anchor="end"%s>%s</text>`+"\n", labelWidth-6, top+barHeight-1, weight, html.EscapeString(cut(r.label, 56)))
	for _, span := range r.spans {
		left := at(span.From)
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%d" fill="%s"><title>%s</title></rect>`+"\n",
			left, top, max(at(span.To)-left, minimumBar), barHeight, colorOf(span, r.ours), html.EscapeString(titleOf(span)))
	}
}

func titleOf(span Span) string {
	head := strings.TrimSpace(span.Operation+" "+string(span.State)) + " " + seconds(span.To.Sub(span.From))
	if span.Kind == KindMachine {
		head = span.Name + " " + head
	}
	return strings.Join(append([]string{head}, span.Descriptions...), "\n")
}

// cut shortens a text to a number of characters.
func cut(text string, length int) string {
	runes := []rune(text)
	if len(runes) <= length {
		return text
	}
	return string(runes[:length-1]) + "…"
}

func seconds(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}
