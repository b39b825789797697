package example

import _ "embed" // for the image vector

//go:embed images.yaml
var imageVector []byte

// ImageVector returns the example cloud's images, in the format of Gardener's image vectors.
func ImageVector() []byte { return imageVector }
