package conformance

func catalog() []Behaviour {
	return []Behaviour{}
}
