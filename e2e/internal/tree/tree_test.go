package tree

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLines(t *testing.T) {
	assert.Equal(t, `a  top
├─ b
│  └─ c  leaf
└─ d
   ├─ e
   └─ kind only
f`, strings.Join(Lines([]Node{
		{Name: "a", Kind: "top", Below: []Node{
			{Name: "b", Below: []Node{{Name: "c", Kind: "leaf"}}},
			{Name: "d", Below: []Node{{Name: "e"}, {Kind: "kind only"}}},
		}},
		{Name: "f"},
	}), "\n"))
	assert.Empty(t, Lines(nil))
}

func TestList(t *testing.T) {
	assert.Equal(t, []string{"top", "├─ a", "└─ b"}, List("top", []string{"a", "b"}))
}
