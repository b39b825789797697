package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/trellis-garden/trellis/images"
)

// report prints what was made and what can be done with it.
func report(out io.Writer, o buildOptions, products []product) error {
	fmt.Fprintln(out)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "IMAGE\tPLATFORM\tSIZE\tCOMPONENTS\tDIGEST OF ALL PLATFORMS")
	for _, p := range products {
		name, digest := p.name, p.digest
		for i, image := range p.images {
			fmt.Fprintf(table, "%s\t%s\t%.1f MB\t%d\t%s\n", name, image.Platform, sizeOf(image)/1e6, p.components[i], digest)
			name, digest = "", ""
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, p := range products {
		if p.unlicensed > 0 {
			fmt.Fprintf(out, "\n%s: %d components have no license that is known; see its bills of materials.\n", p.name, p.unlicensed)
		}
	}
	archive := filepath.Join(o.out, products[0].base()+".tar")
	fmt.Fprintf(out, "\nArchives, bills of materials and digests.txt are in %s. SIZE is what is pulled.\n", o.out)
	if o.push {
		fmt.Fprintf(out, "Pushed. Install charts with image.repository %s/BINARY.\n", o.repository)
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
func (p product) base() string {
	name, _, _ := strings.Cut(p.name[strings.LastIndex(p.name, "/")+1:], ":")
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
