package rest

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"basalt/query"
	"basalt/query/catalog"
	"basalt/query/plan"
)

// answerOptions answers OPTIONS: which methods a relation or routine takes. The database is not asked.
func (h *Handler) answerOptions(c echo.Context, model *catalog.Catalog, path string) error {
	schema, err := h.schema(c.Request())
	if err != nil {
		return err
	}
	methods := "OPTIONS,GET,HEAD"
	if !isRoot(path) {
		var request query.Request
		if err := target(&request, http.MethodGet, path); err != nil {
			return err
		}
		name := catalog.Name{Schema: schema, Name: request.Target}
		if request.Action == query.Call {
			methods, err = routineMethods(model, name)
		} else {
			methods, err = relationMethods(model, name)
		}
		if err != nil {
			return err
		}
	}
	c.Response().Header().Set("Access-Control-Allow-Origin", "*")
	c.Response().Header().Set("Allow", methods)
	h.clock(c).tell(c.Response().Header(), lapParse)
	c.Response().WriteHeader(http.StatusOK)
	return nil
}

func routineMethods(model *catalog.Catalog, name catalog.Name) (string, error) {
	routines := model.Routines(name)
	if len(routines) == 0 {
		return "", &plan.Error{Code: "PGRST202", Message: "Could not find the function " + name.String() + " in the schema cache"}
	}
	if routines[0].Volatility == catalog.Volatile {
		return "OPTIONS,POST", nil
	}
	return "OPTIONS,GET,HEAD,POST", nil
}

func relationMethods(model *catalog.Catalog, name catalog.Name) (string, error) {
	relation, err := plan.FindRelation(model, name)
	if err != nil {
		return "", err
	}
	methods := "OPTIONS,GET,HEAD"
	if relation.Insertable {
		methods += ",POST"
	}
	if relation.Insertable && relation.Updatable && len(relation.PrimaryKey) > 0 {
		methods += ",PUT"
	}
	if relation.Updatable {
		methods += ",PATCH"
	}
	if relation.Deletable {
		methods += ",DELETE"
	}
	return methods, nil
}
