package manager

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFlagSection(t *testing.T) {
	var size string
	binary := Binary{Name: "b", Types: []string{"x"}, Flags: FlagSection{Title: "Disks", Flags: []Flag{{
		Name: "disk-size", Value: "SIZE", Usage: "Size of disks.", Allowed: "small or large",
		Set: func(text string) error {
			if text != "small" && text != "large" {
				return errors.New("must be a size")
			}
			size = text
			return nil
		},
	}}}}
	args := []string{"--types=x", "--leader-election=false"}

	t.Run("they are explained under a heading of their own", func(t *testing.T) {
		assert.Contains(t, helpText(binary), "\nDisks:\n  --disk-size=SIZE\n        Size of disks.\n        Allowed: small or large.\n")
	})
	t.Run("they are given to whoever has them", func(t *testing.T) {
		_, err := parseFlags(binary, append(args, "--disk-size=large"), environment{})
		require.NoError(t, err)
		assert.Equal(t, "large", size)
	})
	t.Run("a wrong value is a wrong command line", func(t *testing.T) {
		_, err := parseFlags(binary, append(args, "--disk-size=huge"), environment{})
		assert.ErrorContains(t, err, `--disk-size: "huge" must be a size; allowed: small or large`)
	})
}
