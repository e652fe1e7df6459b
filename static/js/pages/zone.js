// Tells the server where "today" begins: minutes east of Greenwich, in a cookie.
const secure = location.protocol === "https:" ? "; secure" : "";
document.cookie = `topkapi_zone=${-new Date().getTimezoneOffset()}; path=${new URL("../../../", import.meta.url).pathname}; max-age=31536000; samesite=lax${secure}`;
