package examplenet

import _ "embed" // for the image vector

//go:embed images.yaml
var imageVector []byte

// ImageVector returns the images of the plugin, in the format of Gardener's image vectors.
func ImageVector() []byte { return imageVector }
