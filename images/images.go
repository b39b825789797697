// Package images makes container images from files, without a daemon, a registry or a base image: the same input gives the same bytes,
// whoever builds it, when and with which Go.
//
// NewLayer packs files. An Image is layers and what its program starts with; Program makes one of a static binary. WriteArchive keeps images for all
// their platforms in one file that docker, containerd, kind and skopeo load. Push brings them to a registry.
//
// It must not know what the images are for.
package images

import (
	"io/fs"
	"time"
)

// File is one file, folder or link in an image.
type File struct {
	// Path is absolute and clean, e.g. "/worker-controller". Folders above it that nobody names belong to root and have mode 0o755.
	Path string
	// Source is the path of the file whose content is taken, or of a folder that is taken with all that is in it: files, folders and symbolic
	// links. Hard links become files of their own; extended attributes, capabilities among them, are not taken; devices, pipes and sockets
	// are refused. Content is used when Source is empty.
	Source  string
	Content []byte
	// Link makes a symbolic link to this path instead.
	Link string
	// Mode is 0o644 unless given. With fs.ModeDir, and without a Source, it makes an empty folder, 0o755 unless the mode says more;
	// fs.ModeSetuid, fs.ModeSetgid and fs.ModeSticky are kept. What comes from a Source folder keeps the mode that it has, the folder too.
	Mode fs.FileMode
	// UID and GID own the file and, when it is a folder, all that is taken with it: root unless given. The owner on disk does not count.
	UID, GID int
}

// Config is what the image's program starts with.
type Config struct {
	Entrypoint, Env []string
	// Cmd are the arguments of the program unless others are given.
	Cmd []string
	// User is "65532:65532" unless given: nobody runs as root by accident.
	User, WorkingDir string
	// StopSignal ends the program, e.g. "SIGRTMIN+3"; SIGTERM unless given.
	StopSignal string
	Labels     map[string]string
	// Created is the zero time unless given. The clock is never read: the same input gives the same bytes.
	Created time.Time
}

// Platform is e.g. linux/amd64, in Go's words.
type Platform struct{ OS, Architecture string }

func (p Platform) String() string { return p.OS + "/" + p.Architecture }

// Image is an image for one platform. Layers are lists of files, the lowest first; images that share a layer (the same *Layer) store it once.
type Image struct {
	Platform Platform
	Layers   []*Layer
	Config   Config
	// Attachments go to a registry with the image, as its referrers. What loads archives takes all that their index lists for an image, so that they
	// are not there: see Document.
	Attachments []Attachment
}

// Document is a file in an archive beside the images, such as a bill of materials or a signature. What loads images passes over it.
type Document struct {
	// Path is relative, below "documents/".
	Path    string
	Content []byte
}

// DefaultUser runs the program unless its Config says otherwise: user and group "nonroot", as in other minimal images.
const DefaultUser = "65532:65532"
