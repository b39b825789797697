// Package efs is Elastic File System: file systems, their mount targets, which have network interfaces in EC2, and tags. It stores no files. It must not know how
// requests and responses are encoded, nor the other services but by its interface Network.
package efs
