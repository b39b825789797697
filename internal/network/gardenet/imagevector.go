package gardenet

import _ "embed" // for the image vector

//go:embed images.yaml
var imageVector []byte

// ImageVector returns the images of gardenet, in the format of Gardener's image vectors.
func ImageVector() []byte { return imageVector }
