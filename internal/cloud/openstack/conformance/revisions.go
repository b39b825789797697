package conformance

func revisions() []Behaviour {
	return []Behaviour{}
}
