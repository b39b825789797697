package plot

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPlot_SVG(t *testing.T) {
	picture, err := Plot{Title: "Memory & more", X: "shoots", Y: "MB", Lines: []Line{
		{Name: "all <four>", Points: []Point{{X: 1, Y: 10}, {X: 10, Y: 100}, {X: 100, Y: 1000}}},
		{Name: "limit", Dashed: true, Points: []Point{{X: 1, Y: 0}, {X: 1, Y: 44}, {X: 100, Y: 44}}},
		{Name: "nothing yet"},
	}}.SVG()
	require.NoError(t, err)
	elements := parse(t, picture)
	assert.Equal(t, 5, elements["circle"], "a point at zero has no place on the axis")
	for _, want := range []string{"Memory &amp; more", "all &lt;four&gt;", "nothing yet", `stroke-dasharray`, ">1000<"} {
		assert.Contains(t, picture, want)
	}
	// The first line is a straight one from corner to corner, since it grows linearly.
	assert.Contains(t, picture, `d="M70.0 310.0L270.0 175.0L470.0 40.0"`)
}

func TestPlot_SVG_OneValue(t *testing.T) {
	picture, err := Plot{Lines: []Line{{Points: []Point{{X: 1, Y: 1}}}}}.SVG()
	require.NoError(t, err)
	parse(t, picture)
	assert.NotContains(t, picture, "NaN")
}

func TestPlot_SVG_NoPoints(t *testing.T) {
	_, err := Plot{Title: "empty", Lines: []Line{{Points: []Point{{X: 0, Y: 1}}}}}.SVG()
	assert.EqualError(t, err, `plot "empty" has no points`)
}

// parse counts elements by their names, and fails if the text is no XML.
func parse(t *testing.T, text string) map[string]int {
	t.Helper()
	elements := map[string]int{}
	decoder := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return elements
		}
		require.NoError(t, err)
		if start, is := token.(xml.StartElement); is {
			elements[start.Name.Local]++
		}
	}
}
