// Package glance is Glance of the fake cloud: images.
// Users of the fake import package fake only.
package glance
