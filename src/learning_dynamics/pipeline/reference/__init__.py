"""The reference as a site: what can be set, what is measured, and the library that any study may call."""
