package ec2

import (
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// image is a machine image of the account.
type image struct {
	meta

	name, rootDevice string
}

func (s *Service) newImages() *collection[*image] {
	return &collection[*image]{
		kind: "image", ids: "ImageIds", answer: "Images", view: s.viewImage,
		notFound: func(id string) *wire.Error {
			return protocol.Fail("InvalidAMIID.NotFound", "The image id '[%s]' does not exist", id)
		},
		filters: map[string]func(*image) []string{
			"image-id":         one(func(i *image) string { return i.id }),
			"name":             one(func(i *image) string { return i.name }),
			"owner-id":         one(func(*image) string { return s.owner() }),
			"root-device-name": one(func(i *image) string { return i.rootDevice }),
			"state":            one(func(*image) string { return "available" }),
		},
	}
}

func (s *Service) viewImage(i *image) protocol.Struct {
	return protocol.Struct{
		"ImageId": i.id, "Name": i.name, "RootDeviceName": i.rootDevice, "RootDeviceType": "ebs", "State": "available", "OwnerId": s.owner(), "Public": false,
		"ImageType": "machine", "VirtualizationType": "hvm", "Architecture": "x86_64", "Tags": i.tagList(),
	}
}

func (s *Service) imageActions() map[string]core.Action {
	return map[string]core.Action{"DescribeImages": describing(s, s.images)}
}

// AddImage adds an image, and returns its ID.
func (s *Service) AddImage(name, rootDevice string) string {
	i := &image{meta: s.bareMeta("ami"), name: name, rootDevice: rootDevice}
	s.images.add(i)
	return i.id
}
