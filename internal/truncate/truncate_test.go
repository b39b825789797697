package truncate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/internal/truncate"
)

func TestText(t *testing.T) {
	for sentence, tt := range map[string]struct {
		text  string
		limit int
		want  string
	}{
		"keeps a text within the limit":                      {text: "quota exceeded", limit: 14, want: "quota exceeded"},
		"cuts a longer text and says so":                     {text: "quota exceeded", limit: 13, want: "quota exc ..."},
		"keeps lines and tabs":                               {text: "first\n\tsecond", limit: 100, want: "first\n\tsecond"},
		"replaces terminal escapes":                          {text: "\x1b[31mred\r\x00", limit: 100, want: " [31mred  "},
		"replaces marks that reorder text":                   {text: "a\u202eb", limit: 100, want: "a b"},
		"never cuts inside a letter":                         {text: "ääää", limit: 7, want: "ä ..."},
		"drops bytes that are no UTF-8":                      {text: "a\xffb", limit: 100, want: "ab"},
		"returns the ellipsis alone where nothing else fits": {text: "quota", limit: 4, want: " ..."},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := truncate.Text(tt.text, tt.limit)
			assert.Equal(t, tt.want, got)
			assert.True(t, utf8.ValidString(got))
			assert.LessOrEqual(t, len(got), tt.limit)
		})
	}
}

func TestError(t *testing.T) {
	cause := errors.New("\x1b" + strings.Repeat("a", 5<<20))
	cut := truncate.Error(fmt.Errorf("creating port: %w", cause), 30)
	assert.EqualError(t, cut, "creating port:  aaaaaaaaaa ...")
	assert.ErrorIs(t, cut, cause)

	short := errors.New("short")
	assert.Same(t, short, truncate.Error(short, 30))
	assert.NoError(t, truncate.Error(nil, 30))
}

func TestLine(t *testing.T) {
	assert.Equal(t, "a b c", truncate.Line(" a\n\n\tb   c ", 100))
	assert.Equal(t, "aaaaaa ...", truncate.Line(strings.Repeat("a", 5<<20), 10))
}
