package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/trellis-garden/trellis/images"
	"github.com/trellis-garden/trellis/images/internal/builder"
)

// report prints what was made and what can be done with it.
func report(out io.Writer, o builder.Options, products []builder.Product) error {
	fmt.Fprintln(out)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "IMAGE\tPLATFORM\tSIZE\tCOMPONENTS\tDIGEST OF ALL PLATFORMS")
	for _, p := range products {
		name, digest := p.Name, p.Digest
		for i, image := range p.Images {
			fmt.Fprintf(table, "%s\t%s\t%.1f MB\t%d\t%s\n", name, image.Platform, sizeOf(image)/1e6, p.Components[i], digest)
			name, digest = "", ""
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, p := range products {
		if p.Unlicensed > 0 {
			fmt.Fprintf(out, "\n%s: %d components have no license that is known; see its bills of materials.\n", p.Name, p.Unlicensed)
		}
	}
	archive := filepath.Join(o.Out, base(products[0])+".tar")
	fmt.Fprintf(out, "\nArchives, bills of materials and digests.txt are in %s. SIZE is what is pulled.\n", o.Out)
	if o.Push {
		fmt.Fprintf(out, "Pushed. Install charts with image.repository %s/BINARY.\n", o.Repository)
		return nil
	}
	fmt.Fprintf(out, `To load one:
  docker load -i %[1]s
  kind load image-archive %[1]s --name CLUSTER
  ctr -n k8s.io images import %[1]s
`, archive)
	return nil
}

// base is the last part of the image's repository.
func base(p builder.Product) string {
	name, _, _ := strings.Cut(p.Name[strings.LastIndex(p.Name, "/")+1:], ":")
	return name
}

// sizeOf is in bytes.
func sizeOf(image images.Image) float64 {
	var size int64
	for _, layer := range image.Layers {
		size += layer.Size()
	}
	return float64(size)
}
