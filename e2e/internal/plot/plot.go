// Package plot draws lines over numbers as SVG, without any program. It must not know what the numbers are.
package plot

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Sizes in pixels.
const (
	width, height                               = 640, 360
	marginLeft, marginRight, marginTop, marginX = 70, 170, 40, 50
	tickLength                                  = 5
	legendLine                                  = 18
)

// Plot is a picture of lines. Both axes are logarithmic: a line that rises by as much as it goes to the right grows linearly.
type Plot struct {
	// Title, X and Y name the picture and its axes.
	Title, X, Y string
	Lines       []Line
}

// Line is one line. Its points have positive coordinates, others are left out.
type Line struct {
	Name   string
	Points []Point
	// Dashed is for lines that were not measured.
	Dashed bool
}

// Point is one value.
type Point struct{ X, Y float64 }

// colors are of Okabe and Ito's palette, which people who see few colors can tell apart.
func colors() []string {
	return []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"}
}

// SVG draws the plot. It fails if there is no point.
func (p Plot) SVG() (string, error) {
	x, y, err := p.axes()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	b.WriteString(`<rect width="100%" height="100%" fill="#ffffff"/>` + "\n")
	text(&b, marginLeft, marginTop/2+tickLength, "start", ` font-weight="bold"`, p.Title)
	p.drawAxes(&b, x, y)
	for i, line := range p.Lines {
		line.draw(&b, x, y, colors()[i%len(colors())], i)
	}
	b.WriteString("</svg>\n")
	return b.String(), nil
}

func (p Plot) axes() (x, y axis, err error) {
	var xs, ys []float64
	for _, line := range p.Lines {
		for _, point := range line.positive() {
			xs, ys = append(xs, point.X), append(ys, point.Y)
		}
	}
	if len(xs) == 0 {
		return axis{}, axis{}, fmt.Errorf("plot %q has no points", p.Title)
	}
	return newAxis(xs, marginLeft, width-marginRight), newAxis(ys, height-marginX, marginTop), nil
}

func (p Plot) drawAxes(b *strings.Builder, x, y axis) {
	const grid = `<path d="M%.1f %.1fL%.1f %.1f" stroke="%s"/>` + "\n"
	for _, tick := range x.ticks() {
		fmt.Fprintf(b, grid, x.at(tick), y.from, x.at(tick), y.to, "#dddddd")
		text(b, x.at(tick), y.from+3*tickLength, "middle", "", number(tick))
	}
	for _, tick := range y.ticks() {
		fmt.Fprintf(b, grid, x.from, y.at(tick), x.to, y.at(tick), "#dddddd")
		text(b, x.from-tickLength, y.at(tick)+4, "end", "", number(tick))
	}
	fmt.Fprintf(b, grid, x.from, y.from, x.to, y.from, "#000000")
	fmt.Fprintf(b, grid, x.from, y.from, x.from, y.to, "#000000")
	text(b, (x.from+x.to)/2, height-tickLength*2, "middle", "", p.X)
	text(b, tickLength, marginTop-tickLength*2, "start", "", p.Y)
}

// draw draws the line, and its name in the legend's line number i.
func (l Line) draw(b *strings.Builder, x, y axis, color string, i int) {
	style := ""
	if l.Dashed {
		style = ` stroke-dasharray="6 4"`
	}
	var path strings.Builder
	for n, point := range l.positive() {
		command := "L"
		if n == 0 {
			command = "M"
		}
		fmt.Fprintf(&path, "%s%.1f %.1f", command, x.at(point.X), y.at(point.Y))
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", x.at(point.X), y.at(point.Y), color)
	}
	if path.Len() > 0 {
		fmt.Fprintf(b, `<path d="%s" stroke="%s" stroke-width="2" fill="none"%s/>`+"\n", path.String(), color, style)
	}
	top := float64(marginTop + i*legendLine)
	left := float64(width - marginRight + 3*tickLength)
	fmt.Fprintf(b, `<path d="M%.1f %.1fL%.1f %.1f" stroke="%s" stroke-width="2"%s/>`+"\n", left, top, left+4*tickLength, top, color, style)
	text(b, left+5*tickLength, top+4, "start", "", l.Name)
}

// positive returns the points that a logarithmic axis has.
func (l Line) positive() []Point {
	return slices.DeleteFunc(slices.Clone(l.Points), func(p Point) bool { return p.X <= 0 || p.Y <= 0 })
}

// axis maps numbers from low to high to pixels.
type axis struct{ low, high, from, to float64 }

// newAxis returns an axis of whole powers of ten.
func newAxis(values []float64, from, to float64) axis {
	low, high := math.Floor(math.Log10(slices.Min(values))), math.Ceil(math.Log10(slices.Max(values)))
	if low == high {
		high++
	}
	return axis{low: low, high: high, from: from, to: to}
}

func (a axis) at(value float64) float64 {
	return a.from + (math.Log10(value)-a.low)/(a.high-a.low)*(a.to-a.from)
}

func (a axis) ticks() []float64 {
	var ticks []float64
	for exponent := a.low; exponent <= a.high; exponent++ {
		ticks = append(ticks, math.Pow(10, exponent))
	}
	return ticks
}

func number(value float64) string { return strconv.FormatFloat(value, 'g', 6, 64) }

func text(b *strings.Builder, x, y float64, anchor, style, content string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>`+"\n", x, y, anchor, style,
		strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(content))
}
