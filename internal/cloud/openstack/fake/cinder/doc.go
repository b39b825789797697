// Package cinder is Cinder of the fake cloud: volumes and their types. It reads images of Glance.
// Users of the fake import package fake only.
package cinder
