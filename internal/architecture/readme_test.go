package architecture

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mostWords is the longest that the README may be: what it does not say is on other pages, to which it links.
const mostWords = 900

func TestDocuments_ReadmeLength(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	assert.LessOrEqual(t, len(strings.Fields(string(content))), mostWords)
}
