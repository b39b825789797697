package terminal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStep_File(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	screen := New(file)
	assert.False(t, screen.IsLive())

	require.NoError(t, screen.Step("seed", func(progress io.Writer) (string, error) {
		_, err := fmt.Fprintln(progress, "building etcd")
		return "https://127.0.0.1:1", err
	}))
	broken := errors.New("no port")
	require.ErrorIs(t, screen.Step("cloud", func(io.Writer) (string, error) { return "", broken }), broken)

	written, err := os.ReadFile(file.Name())
	require.NoError(t, err)
	assert.Equal(t, "    building etcd\n  ✓ seed         https://127.0.0.1:1\n  ✗ cloud\n", string(written))
}

func TestBlock_Terminal(t *testing.T) {
	var out strings.Builder
	screen := &Screen{out: &out, live: true, colour: true}
	block := screen.Block()
	block.Update("one", "two")
	block.Update("three")
	block.Above("note")
	block.End(screen.Styled(Green, "done"))
	const up1, up2 = "\x1b[1A\r\x1b[J", "\x1b[2A\r\x1b[J"
	unwrapped := strings.NewReplacer("\x1b[?7l", "", "\x1b[?7h", "").Replace(out.String())
	assert.Equal(t, "one\ntwo\n"+up2+"three\n"+up1+"note\n"+"three\n"+up1+"\x1b[32mdone\x1b[0m\n", unwrapped)
}
