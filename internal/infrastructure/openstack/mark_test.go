package openstack

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMark_RoundTrip(t *testing.T) {
	technicalID, uid, ok := parseMark(formatMark("shoot--dev--one", "5f0c9a52-3c1e-4f6b-9d39-8a1f6f1f7a11"))
	require.True(t, ok)
	assert.Equal(t, "shoot--dev--one", technicalID)
	assert.Equal(t, "5f0c9a52-3c1e-4f6b-9d39-8a1f6f1f7a11", uid)
}

func TestFormatMark_Length(t *testing.T) {
	assert.LessOrEqual(t, len(formatMark(strings.Repeat("x", 63), strings.Repeat("0", 36))), 255)
}

func TestParseMark_Invalid(t *testing.T) {
	mark := formatMark("shoot--a", "uid-1")
	for name, description := range map[string]string{
		"an empty description":                    "",
		"what the upstream extension writes":      "Cluster Nodes",
		"a mark with something in front":          "x " + mark,
		"a mark with something behind":            mark + ".",
		"a mark without a technical ID":           formatMark("", "uid-1"),
		"a mark without a UID":                    formatMark("shoot--a", ""),
		"a mark with spaces in the technical ID":  formatMark("shoot a", "uid-1"),
		"a mark that somebody pasted a mark into": formatMark("a, uid b; managed", "uid-1"),
	} {
		t.Run(name, func(t *testing.T) {
			_, _, ok := parseMark(description)
			assert.False(t, ok)
		})
	}
}

func TestFormatMark_CommonPrefix(t *testing.T) {
	assert.NotEqual(t, formatMark("shoot--a", "uid-1"), formatMark("shoot--a-b", "uid-1"))
	require.NoError(t, checkMark("network n", "Cluster Nodes", "uid-1"))
	require.NoError(t, checkMark("network n", formatMark("shoot--a", "uid-1"), "uid-1"))
	assert.ErrorContains(t, checkMark("network n", formatMark("shoot--b", "uid-2"), "uid-1"), "belongs to shoot shoot--b")
}
