package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

// api is what a page is about.
type api struct {
	doc string
	// types are in the order of their files, kinds among them.
	types []*apiType
	// constants are the strings that a reader meets as values: those declared in a group with a comment.
	constants []constantGroup
	// examples are documents with an introduction.
	examples []example
}

type apiType struct {
	name, doc string
	// kind is true for what is a document of its own.
	kind   bool
	fields []apiField
}

type apiField struct {
	name, typeText, doc, fallback string
	// refers is the type of this package that the field holds, if any.
	refers   string
	optional bool
}

type constantGroup struct {
	doc       string
	constants []constant
}

type constant struct{ name, value, doc string }

// parse reads the package in dir.
func parse(dir string) (*api, error) {
	fileSet := token.NewFileSet()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(filepath.Base(name), "zz_") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(fileSet, name, source, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	if len(files) == 0 {
		return nil, errors.New("no Go files there")
	}
	// The page has the order of the source, which somebody thought about.
	parsed, err := doc.NewFromFiles(fileSet, files, dir, doc.PreserveAST)
	if err != nil {
		return nil, err
	}
	result := &api{doc: withoutMarkers(parsed.Doc)}
	for _, file := range files {
		for _, declaration := range file.Decls {
			if general, ok := declaration.(*ast.GenDecl); ok {
				err = errors.Join(err, result.add(general))
			}
		}
	}
	return result, err
}

func (a *api) add(declaration *ast.GenDecl) error {
	var errs error
	for _, spec := range declaration.Specs {
		if typeSpec, ok := spec.(*ast.TypeSpec); ok {
			errs = errors.Join(errs, a.addType(declaration, typeSpec))
		}
	}
	if declaration.Tok == token.CONST {
		return a.addConstants(declaration)
	}
	return errs
}

func (a *api) addType(declaration *ast.GenDecl, spec *ast.TypeSpec) error {
	structure, ok := spec.Type.(*ast.StructType)
	if !ok || !spec.Name.IsExported() {
		return nil
	}
	comment := declaration.Doc.Text()
	result := &apiType{
		name: spec.Name.Name,
		doc:  withoutMarkers(comment),
		kind: strings.Contains(comment, "+kubebuilder:object:root=true"),
	}
	var errs error
	for _, structField := range structure.Fields.List {
		parsed, err := parseField(structField)
		switch {
		case err != nil:
			errs = errors.Join(errs, fmt.Errorf("%s: %w", result.name, err))
		case parsed != nil:
			result.fields = append(result.fields, *parsed)
		}
	}
	if len(result.fields) > 0 {
		a.types = append(a.types, result)
	}
	return errs
}

// parseField returns nil for what is not part of the JSON document under a name of its own.
func parseField(structField *ast.Field) (*apiField, error) {
	if len(structField.Names) != 1 || structField.Tag == nil || !structField.Names[0].IsExported() {
		return nil, nil
	}
	tag, err := strconv.Unquote(structField.Tag.Value)
	if err != nil {
		return nil, err
	}
	name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	if name == "" || name == "-" {
		return nil, nil
	}
	comment := structField.Doc.Text()
	text, fallback := splitDefault(withoutMarkers(comment))
	if text == "" {
		return nil, fmt.Errorf("field %s has no comment", structField.Names[0].Name)
	}
	typeText, refers := describeType(structField.Type)
	return &apiField{
		name: name, typeText: typeText, refers: refers, doc: withoutName(text, structField.Names[0].Name), fallback: fallback,
		optional: strings.Contains(comment, "+optional"),
	}, nil
}

func (a *api) addConstants(declaration *ast.GenDecl) error {
	group := constantGroup{doc: withoutMarkers(declaration.Doc.Text())}
	for _, spec := range declaration.Specs {
		values, ok := spec.(*ast.ValueSpec)
		if !ok || len(values.Names) != 1 || len(values.Values) != 1 || !values.Names[0].IsExported() {
			continue
		}
		literal, ok := values.Values[0].(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			continue
		}
		value, err := strconv.Unquote(literal.Value)
		if err != nil {
			return err
		}
		name := values.Names[0].Name
		comment := values.Doc.Text() + values.Comment.Text()
		group.constants = append(group.constants, constant{name: name, value: value, doc: withoutName(comment, name)})
	}
	// A group that somebody introduced is for readers, anything else for programmers.
	if declaration.Lparen.IsValid() && group.doc != "" && len(group.constants) > 0 {
		a.constants = append(a.constants, group)
	}
	return nil
}
