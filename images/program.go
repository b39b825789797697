package images

import (
	"debug/elf"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
)

// Program makes an image of one static binary for Linux: the layers below, such as that of package base, and the binary on top, as /<its file name>. The platform is
// read from the binary. The Entrypoint is the binary unless config has one.
//
// An error says when the binary is none, is for another processor than amd64 and arm64, the two that Gardener knows, or needs libraries,
// which an image of it alone would not have.
func Program(binary string, config Config, below ...*Layer) (Image, error) {
	platform, err := platformOf(binary)
	if err != nil {
		return Image{}, fmt.Errorf("making an image of %s: %w", binary, err)
	}
	target := "/" + filepath.Base(binary)
	layer, err := NewLayer(File{Path: target, Source: binary, Mode: 0o755})
	if err != nil {
		return Image{}, err
	}
	if config.Entrypoint == nil {
		config.Entrypoint = []string{target}
	}
	return Image{Platform: platform, Layers: append(slices.Clip(below), layer), Config: config}, nil
}

func platformOf(binary string) (Platform, error) {
	program, err := elf.Open(binary)
	if err != nil {
		return Platform{}, err
	}
	defer program.Close() //nolint:errcheck // nothing was written
	for _, segment := range program.Progs {
		if segment.Type == elf.PT_INTERP {
			return Platform{}, errors.New("it is linked to libraries of the system; build it with CGO_ENABLED=0")
		}
	}
	switch program.Machine {
	case elf.EM_X86_64:
		return Platform{"linux", "amd64"}, nil
	case elf.EM_AARCH64:
		return Platform{"linux", "arm64"}, nil
	default:
		return Platform{}, fmt.Errorf("it is for the processor %s; only amd64 and arm64 are known", program.Machine)
	}
}
